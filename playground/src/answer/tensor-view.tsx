/** Any tensor: dtype, shape, figures, histogram, heat map or rows, first values, and all of them as npz. */
import { type TypedTensor, tensorsBody } from '@sagemaker-tfs/client';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { saveFile } from '../save-file.ts';
import { typeText } from '../signature-view.tsx';
import { binaryOf, elementText } from './binary.ts';
import { BinaryView } from './binary-view.tsx';
import { channelsOf, figure, type Plane, planeOf, rowsOf, statisticsOf } from './statistics.ts';

/** Values that are written out. */
const WRITTEN = 48;
/** Elements that are no text, which are drawn or offered as files. */
const FILES = 8;
/** Rows that are written below one another. */
const ROWS = 32;

interface TensorsProps {
  readonly tensors: Readonly<Record<string, TypedTensor>>;
  /** Those that are shown in another form already. */
  readonly seen: readonly (string | undefined)[];
}

/** All tensors of an answer; an only one, small ones and pictures are open. */
export function Tensors({ tensors, seen }: TensorsProps) {
  const entries = Object.entries(tensors);
  if (entries.length === 0) return null;
  return (
    <section aria-label="Tensors">
      <div class="row">
        <h3>Tensors</h3>
        <button
          type="button"
          onClick={() => saveFile('answer.npz', tensorsBody({ ...tensors }).bytes)}
        >
          Download npz
        </button>
      </div>
      {entries.map(([name, tensor]) => (
        <TensorView
          key={name}
          name={name}
          tensor={tensor}
          open={!seen.includes(name) && (entries.length === 1 || isOpen(tensor))}
        />
      ))}
    </section>
  );
}

/** Small ones, and pictures. */
function isOpen(tensor: TypedTensor): boolean {
  return tensor.data.length <= WRITTEN || channelsOf(tensor) !== undefined;
}

interface Props {
  readonly name: string;
  readonly tensor: TypedTensor;
  readonly open: boolean;
}

function TensorView({ name, tensor, open }: Props) {
  const [isOpen, setOpen] = useState(open);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <b>{name}</b> <code>{typeText(tensor)}</code>
      </summary>
      {isOpen ? <Inside name={name} tensor={tensor} /> : null}
    </details>
  );
}

function Inside({ name, tensor }: Omit<Props, 'open'>) {
  const statistics = useMemo(
    () => (tensor.data.length > 2 ? statisticsOf(tensor) : undefined),
    [tensor],
  );
  return (
    <>
      {statistics ? (
        <div class="figures">
          <span>
            min <b>{figure(statistics.min)}</b>
          </span>
          <span>
            max <b>{figure(statistics.max)}</b>
          </span>
          <span>
            mean <b>{figure(statistics.mean)}</b>
          </span>
          {statistics.notFinite > 0 ? (
            <span class="warn">
              not finite <b>{statistics.notFinite}</b>
            </span>
          ) : null}
          <Histogram bins={statistics.histogram} />
        </div>
      ) : null}
      {statistics ? (
        <HeatMap name={name} tensor={tensor} min={statistics.min} max={statistics.max} />
      ) : null}
      {tensor.dtype === 'string' ? <Files name={name} elements={tensor.data} /> : null}
      {isAllFiles(tensor) ? null : <Values tensor={tensor} />}
    </>
  );
}

interface FilesProps {
  readonly name: string;
  readonly elements: readonly Uint8Array[];
}

/** The first elements that are no text. */
function Files({ name, elements }: FilesProps) {
  return elements.slice(0, FILES).map((bytes, at) => {
    const binary = binaryOf(bytes);
    const file = elements.length > 1 ? `${name}-${at}` : name;
    return binary ? <BinaryView key={at} {...binary} bytes={bytes} name={file} /> : null;
  });
}

function isAllFiles({ dtype, data }: TypedTensor): boolean {
  return dtype === 'string' && data.length <= FILES && data.length > 0 && data.every(binaryOf);
}

/** The first values: a row for each step of a sequence, otherwise in one line. */
function Values({ tensor }: { readonly tensor: TypedTensor }) {
  const { shape, data } = tensor;
  const rows = rowsOf(shape, ROWS);
  const width = rows ? (shape.at(-1) ?? 1) : 1;
  const shown = rows ? rows.length * width : WRITTEN;
  const more = data.length > shown ? `… ${data.length} in all` : '';
  if (!rows) {
    const texts = valueTexts(tensor, 0, shown);
    return <p class="values">{[...texts, ...(more ? [more] : [])].join(', ')}</p>;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it
    <div class="scroll" tabIndex={0}>
      <table>
        {rows.map((name, row) => (
          <tr key={name}>
            <th scope="row" class="quiet">
              {name}
            </th>
            {valueTexts(tensor, row * width, width).map((text, at) => (
              <td key={at} class="number">
                {text}
              </td>
            ))}
          </tr>
        ))}
      </table>
      {more}
    </div>
  );
}

function valueTexts(tensor: TypedTensor, from: number, count: number): string[] {
  const { dtype, data } = tensor;
  const to = Math.min(data.length, from + count);
  if (dtype === 'string') {
    return data
      .slice(from, to)
      .map((bytes) => elementText(bytes, (text) => JSON.stringify(text.slice(0, 200))));
  }
  return Array.from({ length: to - from }, (_, at) => {
    const value = data[from + at];
    return typeof value === 'bigint' ? String(value) : figure(Number(value));
  });
}

function Histogram({ bins }: { readonly bins: readonly number[] }) {
  const tallest = Math.max(...bins, 1);
  return (
    <svg class="histogram" viewBox={`0 0 ${bins.length} 10`} preserveAspectRatio="none" role="img">
      <title>
        Histogram from min to max, the tallest of {bins.length} bars being {tallest}
      </title>
      {bins.map((count, at) => {
        const height = count === 0 ? 0 : Math.max(0.4, (10 * count) / tallest);
        return <rect key={at} x={at + 0.08} width={0.84} y={10 - height} height={height} />;
      })}
    </svg>
  );
}

interface HeatMapProps {
  readonly name: string;
  readonly tensor: TypedTensor;
  readonly min: number;
  readonly max: number;
}

/** The planes of a tensor one at a time; colored pictures as they are. */
function HeatMap({ name, tensor, min, max }: HeatMapProps) {
  const [index, setIndex] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  const channels = channelsOf(tensor);
  const together = channels ?? 1;
  const planes = planeOf(tensor.shape, index * together);
  useEffect(() => {
    if (!canvas.current || !planes) return;
    const range = max - min || 1;
    const share: Color = (pixels, at, element) =>
      paint(pixels, at, (Number(tensor.data[element]) - min) / range);
    draw(canvas.current, planes.plane, channels === 3 ? bytesOf(tensor, 3) : share);
  }, [tensor, index]);
  if (!planes) return null;
  const { plane } = planes;
  const count = planes.count / together;
  const size = `${plane.rows} rows and ${plane.columns} columns`;
  return (
    <figure>
      <canvas
        ref={canvas}
        class="heat"
        role="img"
        aria-label={
          channels === 3
            ? `Picture of ${size}`
            : `Heat map of ${size}, dark is ${figure(min)}, bright is ${figure(max)}`
        }
        style={{ aspectRatio: `${plane.columns} / ${Math.max(plane.rows, plane.columns / 24)}` }}
      />
      {count > 1 ? (
        <label class="slider">
          plane {index + 1} of {count}
          <input
            type="range"
            min={0}
            max={count - 1}
            value={index}
            onInput={(event) => setIndex(Number(event.currentTarget.value))}
          />
        </label>
      ) : null}
      {channels ? (
        <button
          type="button"
          onClick={() => void savePicture(`${name}.png`, plane, bytesOf(tensor, channels))}
        >
          Download PNG
        </button>
      ) : null}
    </figure>
  );
}

/** Writes the pixel at a place of the picture for an element of the tensor. */
type Color = (pixels: Uint8ClampedArray, at: number, element: number) => void;

/** The bytes as they are: one channel as gray. */
function bytesOf({ data }: TypedTensor, channels: number): Color {
  return (pixels, at, element) => {
    for (let color = 0; color < 3; color++) {
      pixels[at + color] = Number(data[element + (color % channels)]);
    }
    pixels[at + 3] = 255;
  };
}

function draw(
  canvas: HTMLCanvasElement,
  { rows, columns, start, step }: Plane,
  color: Color,
): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  canvas.width = columns;
  canvas.height = rows;
  const image = context.createImageData(columns, rows);
  for (let at = 0; at < rows * columns; at++) color(image.data, at * 4, start + at * step);
  context.putImageData(image, 0, 0);
}

async function savePicture(file: string, plane: Plane, color: Color): Promise<void> {
  const canvas = document.createElement('canvas');
  draw(canvas, plane, color);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (blob) saveFile(file, new Uint8Array(await blob.arrayBuffer()));
}

/** Stops of viridis, whose brightness grows evenly. */
const STOPS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
] as const;

/** Writes the color of a share in 0-1; NaN is transparent. */
function paint(pixels: Uint8ClampedArray, at: number, share: number): void {
  if (Number.isNaN(share)) return;
  const place = Math.max(0, Math.min(1, share)) * (STOPS.length - 1);
  const from = Math.min(STOPS.length - 2, Math.floor(place));
  const a = STOPS[from] ?? STOPS[0];
  const b = STOPS[from + 1] ?? STOPS[0];
  for (let channel = 0; channel < 3; channel++) {
    const [start, end] = [a[channel] ?? 0, b[channel] ?? 0];
    pixels[at + channel] = start + (end - start) * (place - from);
  }
  pixels[at + 3] = 255;
}
