/** Detections drawn on their picture, with a list and a threshold. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PictureInput } from '../description.ts';
import { type Box, boxAt, inPicture } from './boxes.ts';
import { figure } from './statistics.ts';

/** Pixels; a larger picture is drawn smaller. */
const MAX_SIDE = 1200;
/** Apart from one another for every kind of color vision, on light and dark pictures (Okabe and Ito). */
const COLORS = ['#e69f00', '#56b4e9', '#00c08b', '#f0e442', '#d55e00', '#cc79a7', '#ffffff'];

interface Props {
  readonly boxes: readonly Box[];
  readonly picture: Blob | undefined;
  /** How the model saw the picture, where the boxes are the model's own; null where they are the picture's. */
  readonly frame: PictureInput | null;
  /** The lowest score that is answered; null where every box is. */
  readonly minScore: number | null;
}

/** Scores below are guesses, unless the package says otherwise. */
const USUAL_SCORE = 0.5;

/** Boxes at or above a threshold on a canvas, and their list. */
export function BoxesView({ boxes, picture, frame, minScore }: Props) {
  const bitmap = useBitmap(picture);
  const [threshold, setThreshold] = useState(minScore ?? USUAL_SCORE);
  const [hovered, setHovered] = useState(-1);
  const canvas = useRef<HTMLCanvasElement>(null);
  // Where the boxes of a frame lie is known with the picture's size.
  const isPlaced = !frame || !picture || bitmap !== undefined;
  const shown = boxes
    .filter(({ score }) => isPlaced && score >= threshold)
    .map((box) => (frame && bitmap ? inPicture(box, bitmap, frame) : box));
  useEffect(() => {
    if (canvas.current && bitmap) draw(canvas.current, bitmap, shown, hovered);
  }, [bitmap, boxes, threshold, hovered]);
  return (
    <section aria-label="Detections">
      <div class="row">
        <h3>Detections</h3>
        {boxes.length > 0 ? (
          <label class="slider">
            score ≥ {figure(threshold)}
            <input
              type="range"
              min={minScore ?? 0}
              max={1}
              step={0.01}
              value={threshold}
              onInput={(event) => setThreshold(Number(event.currentTarget.value))}
            />
          </label>
        ) : null}
      </div>
      {boxes.length > 0 && minScore !== null ? (
        <p class="quiet">The package leaves scores below {figure(minScore)} out.</p>
      ) : null}
      {bitmap === null ? (
        <p class="quiet">This browser cannot show the picture; the list has its boxes.</p>
      ) : null}
      {picture && bitmap !== null ? (
        <canvas
          ref={canvas}
          role="img"
          data-ready={bitmap ? 'yes' : 'no'}
          onMouseMove={({ currentTarget, offsetX, offsetY }) =>
            setHovered(
              boxAt(
                shown,
                offsetX / currentTarget.clientWidth,
                offsetY / currentTarget.clientHeight,
              ),
            )
          }
          onMouseLeave={() => setHovered(-1)}
          aria-label={`The picture with ${shown.length} boxes; the list below has each`}
        />
      ) : null}
      {isPlaced && shown.length === 0 ? <p>{noneText(boxes, minScore)}</p> : null}
      <ul class="detections" aria-label={`${shown.length} of ${boxes.length} detections`}>
        {shown.slice(0, 200).map((box, at) => (
          <li key={at}>
            <button
              type="button"
              class={at === hovered ? 'hovered' : ''}
              onMouseEnter={() => setHovered(at)}
              onMouseLeave={() => setHovered(-1)}
              onFocus={() => setHovered(at)}
              onBlur={() => setHovered(-1)}
            >
              <span
                class="dot"
                style={{ background: COLORS[at % COLORS.length] ?? '' }}
                aria-hidden="true"
              />
              <span class="name">{box.name}</span>
              <span class="score">{(box.score * 100).toFixed(0)} %</span>
              <span class="quiet">
                {[box.top, box.left, box.bottom, box.right]
                  .map((edge) => edge.toFixed(3))
                  .join(', ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length > 0 ? (
        <p class="quiet">
          top, left, bottom, right as shares of{' '}
          {frame && !bitmap ? 'what the model saw' : 'the picture'}
        </p>
      ) : null}
    </section>
  );
}

/** Why the list is empty. */
function noneText([best]: readonly Box[], minScore: number | null): string {
  if (best) return `None has this score. The best has ${figure(best.score)}.`;
  return `None found${minScore === null ? '' : ` with a score of ${figure(minScore)} or more`}.`;
}

/** Undefined until it is read; null where the browser cannot read it. */
function useBitmap(picture: Blob | undefined): ImageBitmap | null | undefined {
  const [bitmap, setBitmap] = useState<ImageBitmap | null>();
  useEffect(() => {
    let current = true;
    setBitmap(undefined);
    if (picture) {
      createImageBitmap(picture).then(
        (made) => current && setBitmap(made),
        () => current && setBitmap(null),
      );
    }
    return () => {
      current = false;
    };
  }, [picture]);
  return bitmap;
}

function draw(
  canvas: HTMLCanvasElement,
  bitmap: ImageBitmap,
  boxes: readonly Box[],
  hovered: number,
): void {
  const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d');
  if (!context) return;
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const line = Math.max(1, Math.round(Math.max(canvas.width, canvas.height) / 250));
  for (const [at, box] of boxes.entries()) {
    context.globalAlpha = hovered < 0 || hovered === at ? 1 : 0.25;
    context.lineWidth = at === hovered ? line * 2 : line;
    context.strokeStyle = COLORS[at % COLORS.length] ?? '#fff';
    context.strokeRect(
      box.left * canvas.width,
      box.top * canvas.height,
      (box.right - box.left) * canvas.width,
      (box.bottom - box.top) * canvas.height,
    );
  }
}
