/** Classes as bars, the best K. */
import { useState } from 'preact/hooks';
import { areShares, barOf, type Classes } from './classes.ts';
import { figure } from './statistics.ts';

/** Bars that are shown at first. */
const FIRST = 5;

/** The best classes of one input with their scores, and which input it is. */
export function Bars({ outputs: [output], rows, of }: Classes) {
  const [count, setCount] = useState(FIRST);
  const [row, setRow] = useState(0);
  const classes = of(row);
  const shares = areShares(classes);
  const bar = barOf(classes);
  const shown = classes.slice(0, count);
  return (
    <section aria-label="Classes">
      <div class="row">
        <h3>Classes</h3>
        {rows > 1 ? (
          <label class="slider">
            input
            <input
              type="number"
              min={1}
              max={rows}
              value={row + 1}
              onInput={(event) => {
                const wanted = event.currentTarget.valueAsNumber - 1;
                if (Number.isInteger(wanted) && wanted >= 0 && wanted < rows) setRow(wanted);
              }}
            />
            of {rows}
          </label>
        ) : null}
        <label class="slider">
          top {Math.min(count, classes.length)} of {classes.length}
          <input
            type="range"
            min={1}
            max={Math.min(classes.length, 50)}
            value={count}
            onInput={(event) => setCount(Number(event.currentTarget.value))}
          />
        </label>
      </div>
      <ol class="bars" aria-label={`Best classes by ${output}`}>
        {shown.map(({ name, score }, at) => (
          <li key={`${at} ${name}`}>
            <span class="name">{name}</span>
            <span class="track" aria-hidden="true">
              <span class="fill" style={{ width: `${bar(score) * 100}%` }} />
            </span>
            <span class="score">{shares ? `${(score * 100).toFixed(1)} %` : figure(score)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
