/** Detections drawn on their picture, with a list and a threshold. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PictureInput } from '../description.ts';
import { type Box, boxAt, inPicture } from './boxes.ts';

/** Pixels; a larger picture is drawn smaller. */
const MAX_SIDE = 1200;
/** Apart from one another for every kind of color vision, on light and dark pictures (Okabe and Ito). */
const COLORS = ['#e69f00', '#56b4e9', '#00c08b', '#f0e442', '#d55e00', '#cc79a7', '#ffffff'];

interface Props {
  readonly boxes: readonly Box[];
  readonly picture: Blob | undefined;
  /** How the model saw the picture, where the boxes are the model's own; null where they are the picture's. */
  readonly frame: PictureInput | null;
}

/** Boxes at or above a threshold on a canvas, and their list. */
export function BoxesView({ boxes, picture, frame }: Props) {
  const bitmap = useBitmap(picture);
  const [threshold, setThreshold] = useState(0.5);
  const [hovered, setHovered] = useState(-1);
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = boxes
    .filter(({ score }) => score >= threshold)
    .map((box) => (frame && bitmap ? inPicture(box, bitmap, frame) : box));
  useEffect(() => {
    if (canvas.current && bitmap) draw(canvas.current, bitmap, shown, hovered);
  }, [bitmap, boxes, threshold, hovered]);
  return (
    <section aria-label="Detections">
      <div class="row">
        <h3>Detections</h3>
        <label class="slider">
          score ≥ {threshold.toFixed(2)}
          <input
            type="range"
            min={0}
            max={1}
            step={0.01}
            value={threshold}
            onInput={(event) => setThreshold(Number(event.currentTarget.value))}
          />
        </label>
      </div>
      {picture ? (
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
    </section>
  );
}

function useBitmap(picture: Blob | undefined): ImageBitmap | undefined {
  const [bitmap, setBitmap] = useState<ImageBitmap>();
  useEffect(() => {
    let current = true;
    setBitmap(undefined);
    if (picture) {
      createImageBitmap(picture).then(
        (made) => current && setBitmap(made),
        () => undefined,
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
