/** What was asked before; nothing of it leaves the page. */
import type { Choices } from './options.tsx';
import { Preview } from './picture.tsx';
import type { Outcome } from './request/ask.ts';

/** An outcome with the options that it was asked with. */
export interface Asked extends Outcome {
  readonly choices: Choices;
}

interface Props {
  readonly outcomes: readonly Asked[];
  readonly shown: Asked | undefined;
  readonly onShow: (outcome: Asked) => void;
}

/** The newest first; a click shows its input and its answer again. */
export function History({ outcomes, shown, onShow }: Props) {
  return (
    <>
      <h2>History</h2>
      <ol class="history">
        {outcomes.map((outcome) => {
          const { id, at, request, answer, error, milliseconds } = outcome;
          return (
            <li key={id}>
              <button type="button" aria-pressed={id === shown?.id} onClick={() => onShow(outcome)}>
                {request.picture ? <Preview blob={request.picture} alt="" instead="" /> : null}
                <span class="name" title={request.title}>
                  {request.title}
                </span>
                <span class={error ? 'warn' : 'quiet'}>{error?.code ?? answer?.status}</span>
                <span class="quiet">{milliseconds.toFixed(0)} ms</span>
                <time class="quiet">{at.toLocaleTimeString()}</time>
              </button>
            </li>
          );
        })}
      </ol>
    </>
  );
}
