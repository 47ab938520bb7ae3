/** Bytes that are no text: drawn where they are a picture, and to be kept. */
import { useMemo } from 'preact/hooks';
import { Preview } from '../picture.tsx';
import { saveFile } from '../save-file.ts';
import { type Binary, sizeText } from './binary.ts';

interface Props extends Binary {
  readonly bytes: Uint8Array;
  /** Of the file, without its ending. */
  readonly name: string;
}

/** A picture, or kind and size alone, with a button that keeps the bytes. */
export function BinaryView({ bytes, name, kind, mediaType }: Props) {
  const blob = useMemo(
    () => new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mediaType }),
    [bytes, mediaType],
  );
  const isPicture = mediaType.startsWith('image/');
  const ending = isPicture ? (/\/(\w+)/.exec(mediaType)?.[1] ?? 'bin') : 'bin';
  return (
    <>
      {isPicture ? (
        <Preview blob={blob} alt={name} instead={<p>This browser cannot show the picture.</p>} />
      ) : null}
      <p class="row">
        <span>
          {kind}, {sizeText(bytes.length)}
        </span>
        <button type="button" onClick={() => saveFile(`${name}.${ending}`, bytes)}>
          Download
        </button>
      </p>
    </>
  );
}
