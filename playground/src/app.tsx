/** The page: what is sent on the left, what came back on the right. */
import { DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AnswerView } from './answer/answer-view.tsx';
import type { PictureInput, PlaygroundDescription } from './description.ts';
import { type Asked, History } from './history.tsx';
import { Latency } from './latency.tsx';
import { acceptOf, attributesOf, type Choices, firstChoices, Options } from './options.tsx';
import type { Payload } from './payload.ts';
import { ask, type Outcome, type PageRequest } from './request/ask.ts';
import type { Source } from './request/source.ts';
import { type Switched, switchedOf, withSwitched, wrongNumbers } from './request/switched.ts';
import { SendView } from './send-view.tsx';
import { SignatureView } from './signature-view.tsx';
import { Snippets } from './snippets-view.tsx';

/** Outcomes that the history keeps. */
const KEPT = 20;
const NOTHING_SENT = 'Send something: the answer appears here.';

/** Everything on the page. */
export function App({ description }: { readonly description: PlaygroundDescription }) {
  const [choices, setChoices] = useState<Choices>(() => firstChoices(description));
  const [outcomes, setOutcomes] = useState<readonly Asked[]>([]);
  const [shown, setShown] = useState<Asked>();
  const [notice, setNotice] = useState(NOTHING_SENT);
  const [busy, setBusy] = useState(false);
  /** What the inputs begin with when another is opened. */
  const [source, setSource] = useState<Source>();
  /** How often an earlier one was opened: its input takes the place of what is there. */
  const [opened, setOpened] = useState(0);
  /** Counts what was asked for: only the newest is shown, beside its own input. */
  const newest = useRef(0);
  const model = description.models.find(({ name }) => name === choices.model);
  const signature = model?.signatures[choices.signature];
  useEffect(() => {
    document.title = `${model?.title ?? 'model'} · Playground`;
  }, [model]);
  // On a phone the answer comes below what was tapped.
  const answer = useRef<HTMLElement>(null);
  useEffect(() => {
    const { top = 0, bottom = 0 } = answer.current?.getBoundingClientRect() ?? {};
    const isSeen = top < innerHeight * 0.7 && bottom > 0;
    if ((shown || notice !== NOTHING_SENT) && !isSeen) answer.current?.scrollIntoView();
  }, [shown, notice]);

  const showNothing = (why: string) => {
    setShown(undefined);
    setNotice(why);
    setBusy(false);
  };
  const send = async (payload: Payload) => {
    newest.current += 1;
    const own = newest.current;
    setSource(payload.source);
    const wrong = payload.picture ? Object.entries(wrongNumbers(choices.switched)) : [];
    if (wrong.length > 0) {
      const faults = wrong.map(([name, fault]) => `${name}: ${fault}.`);
      return showNothing(`Not sent. Mend in Options: ${faults.join(' ')}`);
    }
    setBusy(true);
    const switched = switchedOf(choices.switched);
    const isSwitched = payload.picture !== undefined && Object.keys(switched).length > 0;
    const request: PageRequest = {
      ...payload,
      accept: acceptOf(choices, description),
      attributes: attributesOf(choices, description),
      ...(isSwitched && signature?.picture && { frame: frameOf(signature.picture, switched) }),
    };
    const answered = await (isSwitched
      ? ask(request, (given) => withSwitched(given, choices.model, choices.signature, switched))
      : ask(request));
    const outcome = { ...answered, choices };
    setOutcomes((before) => [outcome, ...before].slice(0, KEPT));
    if (newest.current !== own) return;
    setShown(outcome);
    setBusy(false);
  };
  const open = (outcome: Asked) => {
    newest.current += 1;
    setOpened(newest.current);
    setChoices(outcome.choices);
    setSource(outcome.request.source);
    setShown(outcome);
    setBusy(false);
  };
  const choose = (next: Choices) => {
    setChoices(next);
    if (next.model === choices.model && next.signature === choices.signature) return;
    // Another form: the answer that is shown is none to it.
    newest.current += 1;
    showNothing(NOTHING_SENT);
    if (source?.tab !== 'File') setSource(undefined);
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
              key={`${choices.model} ${choices.signature} ${opened}`}
              description={description}
              signature={signature}
              signatureKey={choices.signature}
              busy={busy}
              source={source}
              refused={shown?.error && { title: shown.request.title, message: shown.error.message }}
              onSend={send}
              onNotSent={() => showNothing(NOTHING_SENT)}
            />
          </section>
          <section class="card about" aria-label="Model">
            <SignatureView signature={signature} />
            <Options description={description} choices={choices} onChange={choose} />
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
            <h2>Answer{busy ? <span class="quiet late"> is awaited …</span> : null}</h2>
            {shown ? (
              <AnswerView
                key={shown.id}
                outcome={shown}
                signature={signatureOf(description, shown)}
                description={description}
              />
            ) : (
              <p class={notice === NOTHING_SENT ? 'quiet' : 'warn'}>{notice}</p>
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
              <History outcomes={outcomes} shown={shown} onShow={open} />
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
