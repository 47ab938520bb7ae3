/** The same request a hundred times: how long each took. */
import { useState } from 'preact/hooks';
import { measure, type PageRequest } from './request/ask.ts';

/** Requests that are measured. */
const COUNT = 100;
const BINS = 30;

/** The button, then the distribution. */
export function Latency({ request }: { readonly request: PageRequest }) {
  const [done, setDone] = useState<number>();
  const [times, setTimes] = useState<readonly number[]>();
  const [failed, setFailed] = useState('');
  const run = async () => {
    setTimes(undefined);
    setFailed('');
    setDone(0);
    try {
      setTimes(await measure(request, COUNT, setDone));
    } catch (error) {
      setFailed(String(error));
    }
    setDone(undefined);
  };
  return (
    <div>
      <button type="button" disabled={done !== undefined} onClick={run}>
        {done === undefined ? `Send ×${COUNT}` : `${done} of ${COUNT} …`}
      </button>
      {failed ? <p role="alert">{failed}</p> : null}
      {times ? <Distribution times={times} /> : null}
    </div>
  );
}

function Distribution({ times }: { readonly times: readonly number[] }) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  const [low, high] = [sorted[0] ?? 0, sorted.at(-1) ?? 1];
  const width = high - low || 1;
  const bins: number[] = new Array(BINS).fill(0);
  for (const time of times) {
    const bin = Math.min(BINS - 1, Math.floor(((time - low) / width) * BINS));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const tallest = Math.max(...bins);
  const text = `median ${at(0.5).toFixed(1)} ms · P95 ${at(0.95).toFixed(1)} ms · ${low.toFixed(1)} to ${high.toFixed(1)} ms`;
  const mark = (share: number) => ((at(share) - low) / width) * BINS;
  return (
    <figure data-testid="latency">
      <svg class="histogram tall" viewBox={`0 0 ${BINS} 10`} preserveAspectRatio="none" role="img">
        <title>
          Latency of {times.length} requests: {text}
        </title>
        {bins.map((count, bin) => (
          <rect
            key={bin}
            x={bin + 0.08}
            width={0.84}
            y={10 - (10 * count) / tallest}
            height={(10 * count) / tallest}
          />
        ))}
        {[0.5, 0.95].map((share) => (
          <line key={share} x1={mark(share)} x2={mark(share)} y1={0} y2={10} />
        ))}
      </svg>
      <figcaption>{text}, one after another, from this page</figcaption>
    </figure>
  );
}
