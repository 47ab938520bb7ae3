/** A picture or another file: dropped, pasted, chosen, from the camera, or a sample. */

import { mediaTypeOf } from '@sagemaker-tfs/tensors';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Camera, hasCamera } from './camera.tsx';
import type { PictureInput, SampleDescription } from './description.ts';
import { listening } from './listening.ts';
import { type InputProps, messageFor } from './payload.ts';
import { Picture, Preview } from './picture.tsx';
import { cellsOf, csvTypeOf } from './request/csv-table.ts';
import type { Chosen } from './request/source.ts';

const PICTURE = 'application/x-image';

interface Props extends InputProps {
  readonly samples: readonly SampleDescription[];
  /** Names of the inputs. */
  readonly inputs: readonly string[];
  readonly takesPictures: boolean;
  /** Undefined if no picture can be sent. */
  readonly picture: PictureInput | undefined;
  /** Files that were dropped on the page and are not taken yet. */
  readonly dropped: readonly File[];
  readonly onTaken: () => void;
}

/** The drop zone, the samples and the preview. A file is sent as soon as it is there. */
export function FileInput(props: Props) {
  const { samples, inputs, takesPictures, picture, dropped, onTaken } = props;
  const { source, refused, busy, onSend } = props;
  const [chosen, setChosen] = useState(source?.tab === 'File' ? source.chosen : undefined);
  const [note, setNote] = useState('');
  const newest = useRef<Chosen>(undefined);
  const [over, setOver] = useState(false);
  const [looking, setLooking] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const send = async (next: Chosen) => {
    setChosen(next);
    newest.current = next;
    const { name, blob } = next;
    const body = new Uint8Array(await blob.arrayBuffer());
    // Another was chosen while this one was read.
    if (newest.current !== next) return;
    const common = { body, title: name, source: { tab: 'File', chosen: next } } as const;
    if (next.contentType === 'text/csv') {
      const table = cellsOf(new TextDecoder().decode(body));
      return onSend({ ...common, contentType: csvTypeOf(body, inputs), table });
    }
    const { contentType } = next;
    onSend({ ...common, contentType, ...(contentType === PICTURE && { picture: blob }) });
  };
  const take = (files: Iterable<File> | null | undefined) => {
    const [first, ...others] = files ?? [];
    if (!first) return;
    const name = first.name || 'pasted picture';
    setNote(others.length > 0 ? `One of ${others.length + 1} files is sent: ${name}` : '');
    // Anything unknown goes as a picture: if it is none, the runtime says so.
    send({ name, blob: first, contentType: mediaTypeOf(name) ?? PICTURE });
  };
  const isRefused = chosen !== undefined && messageFor(refused, chosen.name) !== undefined;
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => take(event.clipboardData?.files);
    const leave = () => setOver(false);
    return listening({
      paste: onPaste,
      dragover: () => setOver(true),
      dragleave: leave,
      drop: leave,
    });
  });
  useEffect(() => {
    if (dropped.length === 0) return;
    onTaken();
    take(dropped);
  }, [dropped]);
  const trySample = async ({ name, path, mediaType }: SampleDescription) => {
    const response = await fetch(path);
    setNote('');
    if (response.ok) send({ name, blob: await response.blob(), contentType: mediaType });
  };
  return (
    <>
      <div class={over ? 'drop over' : isRefused ? 'drop wrong' : 'drop'}>
        {looking ? (
          <Camera
            onTake={(blob) => {
              setLooking(false);
              send({ name: 'camera.jpg', blob, contentType: PICTURE });
            }}
            onClose={() => setLooking(false)}
          />
        ) : null}
        {chosen?.contentType === PICTURE && !looking ? (
          <Preview
            blob={chosen.blob}
            alt={chosen.name}
            instead={<p class="quiet">This browser cannot show it; it is sent.</p>}
          />
        ) : null}
        {isRefused ? <p class="problem">the server refuses this file</p> : null}
        <p role="status">{note}</p>
        <p>
          {chosen ? chosen.name : `Drop or paste ${takesPictures ? 'a picture' : 'a file'} here`}
        </p>
        <div class="buttons">
          <button type="button" onClick={() => file.current?.click()}>
            Choose a file
          </button>
          {takesPictures ? (
            <button
              type="button"
              class="camera"
              onClick={() => (hasCamera() ? setLooking(true) : camera.current?.click())}
            >
              Camera
            </button>
          ) : null}
          {chosen ? (
            <button type="button" class="main" disabled={busy} onClick={() => send(chosen)}>
              {busy ? 'Sending …' : 'Send again'}
            </button>
          ) : null}
        </div>
        <input
          ref={file}
          type="file"
          hidden
          aria-label="File to send"
          onChange={(event) => take(event.currentTarget.files)}
        />
        <input
          ref={camera}
          type="file"
          accept="image/*"
          capture="environment"
          hidden
          aria-label="Picture from the camera"
          onChange={(event) => take(event.currentTarget.files)}
        />
      </div>
      {picture?.pixels && !picture.declared ? (
        <p class="quiet">
          {picture.input} gets {picture.pixels}.
          {picture.isRaw ? ' Trained on 0 to 1 or others? See package --preprocess.' : ''}
        </p>
      ) : null}
      {samples.length > 0 ? (
        <ul class="samples" aria-label="Samples">
          {samples.map((sample) => (
            <li key={sample.path}>
              <button type="button" title={sample.name} onClick={() => trySample(sample)}>
                {sample.mediaType === PICTURE ? (
                  <Picture src={sample.path} alt={`sample ${sample.name}`} instead={sample.name} />
                ) : (
                  sample.name
                )}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}
