/** The page: what is sent on the left, what came back on the right. */
import { DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AnswerView } from './answer/answer-view.tsx';
import type { PictureInput, PlaygroundDescription } from './description.ts';
import { History } from './history.tsx';
import { Latency } from './latency.tsx';
import { acceptOf, attributesOf, type Choices, firstChoices, Options } from './options.tsx';
import type { Payload } from './payload.ts';
import { ask, type Outcome, type PageRequest } from './request/ask.ts';
import { type Switched, withSwitched } from './request/switched.ts';
import { SendView } from './send-view.tsx';
import { SignatureView } from './signature-view.tsx';
import { Snippets } from './snippets-view.tsx';

/** Outcomes that the history keeps. */
const KEPT = 20;

/** Everything on the page. */
export function App({ description }: { readonly description: PlaygroundDescription }) {
  const [choices, setChoices] = useState<Choices>(() => firstChoices(description));
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [shown, setShown] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  const model = description.models.find(({ name }) => name === choices.model);
  const signature = model?.signatures[choices.signature];
  useEffect(() => {
    document.title = `${model?.title ?? 'model'} · Playground`;
  }, [model]);
  // On a phone the answer comes below what was tapped.
  const answer = useRef<HTMLElement>(null);
  useEffect(() => {
    const top = answer.current?.getBoundingClientRect().top ?? 0;
    if (shown && top > innerHeight * 0.7) answer.current?.scrollIntoView();
  }, [shown]);

  const send = async (payload: Payload) => {
    if (busy) return;
    setBusy(true);
    const { switched } = choices;
    const isSwitched = payload.picture !== undefined && Object.keys(switched).length > 0;
    const request: PageRequest = {
      ...payload,
      accept: acceptOf(choices, description),
      attributes: attributesOf(choices, description),
      ...(isSwitched && signature?.picture && { frame: frameOf(signature.picture, switched) }),
    };
    const outcome = await (isSwitched
      ? ask(request, (given) => withSwitched(given, choices.model, choices.signature, switched))
      : ask(request));
    setOutcomes((before) => [outcome, ...before].slice(0, KEPT));
    setShown(outcome);
    setBusy(false);
  };

  return (
    <>
      <header>
        <h1>{model?.title}</h1>
        <span class="quiet">
          version {choices.version || model?.versions.at(-1)}
          {description.hasHandler ? ' · with a handler' : ''} · on this machine
        </span>
      </header>
      <main>
        <div class="column">
          <section class="card" aria-label="Request">
            <SendView
              key={`${choices.model} ${choices.signature}`}
              description={description}
              signature={signature}
              signatureKey={choices.signature}
              busy={busy}
              refused={shown?.error && { title: shown.request.title, message: shown.error.message }}
              onSend={send}
              onNotSent={() => setShown(undefined)}
            />
          </section>
          <section class="card about" aria-label="Model">
            <SignatureView signature={signature} />
            <Options description={description} choices={choices} onChange={setChoices} />
          </section>
        </div>
        <div class="column">
          <section
            ref={answer}
            class="card answer"
            aria-label="Answer"
            aria-live="polite"
            aria-busy={busy}
          >
            <h2>Answer</h2>
            {shown ? (
              <AnswerView
                key={shown.id}
                outcome={shown}
                signature={signatureOf(description, shown)}
                description={description}
              />
            ) : (
              <p class="quiet">Send something: the answer appears here.</p>
            )}
          </section>
          {shown ? (
            <section class="card" aria-label="This request elsewhere">
              <Snippets request={shown.request} />
              {shown.answer ? <Latency key={shown.id} request={shown.request} /> : null}
            </section>
          ) : null}
          {outcomes.length > 1 ? (
            <section class="card" aria-label="History">
              <History outcomes={outcomes} shown={shown} onShow={setShown} />
            </section>
          ) : null}
        </div>
      </main>
    </>
  );
}

/** How the model sees a picture with the switched fields. */
function frameOf(picture: PictureInput, { resize }: Switched): PictureInput {
  return { ...picture, resize: resize ?? picture.resize };
}

/** The signature that a request was for, whatever is chosen now. */
function signatureOf({ models }: PlaygroundDescription, { request: { attributes } }: Outcome) {
  const model = models.find(({ name }) => name === attributes.modelName) ?? models[0];
  return model?.signatures[attributes.signature ?? DEFAULT_SIGNATURE];
}
