/** What is sent: a file or picture, tensors in a form, or a table. */
import { useEffect, useState } from 'preact/hooks';
import { CsvInput } from './csv-input.tsx';
import type { PlaygroundDescription, SignatureDescription } from './description.ts';
import { ExampleForm } from './example-form.tsx';
import { FileInput } from './file-input.tsx';
import { JsonInput } from './json-input.tsx';
import { listening } from './listening.ts';
import type { InputProps } from './payload.ts';
import type { Source } from './request/source.ts';
import { TensorForm } from './tensor-form.tsx';

/** What a string input for encoded pictures is called; others take text. */
const PICTURE_NAME = /image|picture|photo|img|bytes/i;

/** Whether pictures are what people send. */
function isForPictures(signature: SignatureDescription | undefined): boolean {
  const { input = '' } = signature?.picture ?? {};
  return signature?.inputs[input]?.dtype === 'string' ? PICTURE_NAME.test(input) : input !== '';
}

const TABS: readonly Source['tab'][] = ['JSON', 'File', 'Tensors', 'CSV'];

interface Props extends InputProps {
  readonly description: PlaygroundDescription;
  readonly signature: SignatureDescription | undefined;
  readonly signatureKey: string;
}

/** The inputs as tabs; the arrow keys go from one to the next, Home and End to the first and last. */
export function SendView({ description, signature, signatureKey, ...shared }: Props) {
  const { example } = description;
  const tabs = TABS.slice(example ? 0 : 1);
  // A handler that declares nothing may take pictures.
  const takesPictures = isForPictures(signature) || (description.hasHandler && !example);
  const [tab, setTab] = useState<Source['tab']>(
    shared.source?.tab ??
      (example ? 'JSON' : takesPictures || description.samples.length ? 'File' : 'Tensors'),
  );
  const [dropped, setDropped] = useState<readonly File[]>([]);
  // Whatever is open: a file that is dragged over the page must not replace it.
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      event.preventDefault();
      if (event.dataTransfer?.types.includes('Files')) setTab('File');
    };
    const onDrop = (event: DragEvent) => {
      event.preventDefault();
      setDropped([...(event.dataTransfer?.files ?? [])]);
    };
    return listening({ dragover: onDragOver, drop: onDrop });
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.indexOf(tab);
    const last = tabs.length - 1;
    const to = { ArrowRight: at + 1, ArrowLeft: at + last, Home: 0, End: last }[event.key];
    const next = to === undefined ? undefined : tabs[to % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    setTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="What to send" onKeyDown={onKeyDown}>
        {tabs.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === tab}
            aria-controls="panel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {name === 'File' && takesPictures
              ? 'Picture'
              : name === 'Tensors' && signature?.examples
                ? 'Example'
                : name}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'JSON' && example ? <JsonInput example={example} {...shared} /> : null}
        {tab === 'File' ? (
          <FileInput
            samples={description.samples}
            inputs={Object.keys(signature?.inputs ?? {})}
            takesPictures={takesPictures}
            picture={signature?.picture ?? undefined}
            dropped={dropped}
            onTaken={() => setDropped([])}
            {...shared}
          />
        ) : null}
        {tab === 'Tensors' && signature?.examples ? (
          <ExampleForm examples={signature.examples} signature={signatureKey} {...shared} />
        ) : null}
        {tab === 'Tensors' && !signature?.examples ? (
          <TensorForm signature={signature} {...shared} />
        ) : null}
        {tab === 'CSV' ? <CsvInput signature={signature} {...shared} /> : null}
      </div>
    </>
  );
}
