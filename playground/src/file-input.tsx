/** A picture or another file: dropped, pasted, chosen, from the camera, or a sample. */

import { mediaTypeOf } from '@sagemaker-tfs/tensors';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Camera, hasCamera } from './camera.tsx';
import type { PictureInput, SampleDescription } from './description.ts';
import { listening } from './listening.ts';
import { type InputProps, messageFor } from './payload.ts';
import { csvTypeOf } from './request/csv-table.ts';

interface Props extends InputProps {
  readonly samples: readonly SampleDescription[];
  /** Names of the inputs. */
  readonly inputs: readonly string[];
  readonly takesPictures: boolean;
  /** Undefined if no picture can be sent. */
  readonly picture: PictureInput | undefined;
  /** A file that was dropped on the page and is not taken yet. */
  readonly dropped: File | undefined;
  readonly onTaken: () => void;
}

/** A file that can be sent. */
interface Chosen {
  readonly name: string;
  readonly blob: Blob;
  readonly contentType: string;
}

/** The drop zone, the samples and the preview. A file is sent as soon as it is there. */
export function FileInput(props: Props) {
  const { samples, inputs, takesPictures, picture, dropped, onTaken, refused, busy, onSend } =
    props;
  const [chosen, setChosen] = useState<Chosen>();
  const [over, setOver] = useState(false);
  const [looking, setLooking] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const send = async (next: Chosen) => {
    setChosen(next);
    const { name, blob } = next;
    const body = new Uint8Array(await blob.arrayBuffer());
    const contentType =
      next.contentType === 'text/csv' ? csvTypeOf(body, inputs) : next.contentType;
    const picture = contentType === 'application/x-image' ? blob : undefined;
    onSend({ body, contentType, title: name, picture });
  };
  const take = (first: File | undefined) => {
    if (first) {
      const name = first.name || 'pasted picture';
      // Anything unknown goes as a picture: if it is none, the runtime says so.
      send({ name, blob: first, contentType: mediaTypeOf(name) ?? 'application/x-image' });
    }
  };
  const isRefused = chosen !== undefined && messageFor(refused, chosen.name) !== undefined;
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => take(event.clipboardData?.files[0]);
    const leave = () => setOver(false);
    return listening({
      paste: onPaste,
      dragover: () => setOver(true),
      dragleave: leave,
      drop: leave,
    });
  });
  useEffect(() => {
    if (!dropped) return;
    onTaken();
    take(dropped);
  }, [dropped]);
  const trySample = async ({ name, path, mediaType }: SampleDescription) => {
    const response = await fetch(path);
    if (response.ok) send({ name, blob: await response.blob(), contentType: mediaType });
  };
  return (
    <>
      <div class={over ? 'drop over' : isRefused ? 'drop wrong' : 'drop'}>
        {looking ? (
          <Camera
            onTake={(blob) => {
              setLooking(false);
              send({ name: 'camera.jpg', blob, contentType: 'application/x-image' });
            }}
            onClose={() => setLooking(false)}
          />
        ) : null}
        {chosen?.contentType === 'application/x-image' && !looking ? <Preview {...chosen} /> : null}
        {isRefused ? <p class="problem">the answer refuses this file</p> : null}
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
          onChange={(event) => take(event.currentTarget.files?.[0])}
        />
        <input
          ref={camera}
          type="file"
          accept="image/*"
          capture="environment"
          hidden
          aria-label="Picture from the camera"
          onChange={(event) => take(event.currentTarget.files?.[0])}
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
                {sample.mediaType === 'application/x-image' ? (
                  <img src={sample.path} alt={`sample ${sample.name}`} />
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

/** The picture itself, as its address stays valid while it is seen. */
export function Preview({ blob, name }: { readonly blob: Blob; readonly name: string }) {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url ? <img class="preview" src={url} alt={name} /> : null;
}
