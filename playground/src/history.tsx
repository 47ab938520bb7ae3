/** What was asked before; nothing of it leaves the page. */
import { Preview } from './file-input.tsx';
import type { Outcome } from './request/ask.ts';

interface Props {
  readonly outcomes: readonly Outcome[];
  readonly shown: Outcome | undefined;
  readonly onShow: (outcome: Outcome) => void;
}

/** The newest first; a click shows its answer again. */
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
                {request.picture ? <Preview blob={request.picture} name="" /> : null}
                <span class="name">{request.title}</span>
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
