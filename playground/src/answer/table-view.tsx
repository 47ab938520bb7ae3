/** A pasted table with the answer to each row beside it. */
import type { TypedTensor } from '@sagemaker-tfs/client';
import { elementText } from './binary.ts';
import { figure } from './statistics.ts';

/** Rows that are shown. */
const SHOWN = 200;

interface Props {
  readonly rows: readonly (readonly string[])[];
  readonly tensors: Readonly<Record<string, TypedTensor>>;
}

/** Whether every output has a row for each of the table's, whose first may be a header. */
export function fitsTable(rows: Props['rows'], tensors: Props['tensors']): boolean {
  const counts = new Set(Object.values(tensors).map(({ shape }) => shape[0] ?? 0));
  const [count = 0] = counts;
  return counts.size === 1 && count > 0 && (rows.length === count || rows.length === count + 1);
}

/** Its rows, each behind the answer to it, which a wide table would hide; numbers stand at the right. */
export function TableView({ rows, tensors }: Props) {
  const answers = Object.entries(tensors);
  const count = answers[0]?.[1].shape[0] ?? 0;
  const hasHeader = rows.length === count + 1;
  const body = hasHeader ? rows.slice(1) : rows;
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const sides = Array.from({ length: width }, (_, at) =>
    body.every((row) => isNumber(row[at] ?? '')) ? 'number' : '',
  );
  const sideOf = ({ dtype }: TypedTensor) => (dtype === 'string' ? 'answer' : 'answer number');
  return (
    <section aria-label="Table with answers">
      <h3>Answers by row</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {answers.map(([name, tensor]) => (
                <th key={name} scope="col" class={sideOf(tensor)}>
                  {name}
                </th>
              ))}
              {sides.map((side, at) => (
                <th key={at} scope="col" class={side}>
                  {hasHeader ? rows[0]?.[at] : `column ${at + 1}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.slice(0, SHOWN).map((row, index) => (
              <tr key={index}>
                {answers.map(([name, tensor]) => (
                  <td key={name} class={sideOf(tensor)}>
                    {rowText(tensor, index)}
                  </td>
                ))}
                {sides.map((side, at) => (
                  <td key={at} class={side}>
                    {row[at]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {count > SHOWN ? (
        <p>
          The first {SHOWN} of {count.toLocaleString('en')} rows; Download npz has the answers to
          all.
        </p>
      ) : null}
    </section>
  );
}

function isNumber(cell: string): boolean {
  return cell.trim() !== '' && Number.isFinite(Number(cell));
}

function rowText({ dtype, shape, data }: TypedTensor, row: number): string {
  const width = shape.slice(1).reduce((a, b) => a * b, 1);
  const values = Array.from({ length: Math.min(width, 8) }, (_, at) => data[row * width + at]);
  const texts = values.map((value) => {
    if (value instanceof Uint8Array) return elementText(value, (text) => text);
    return dtype === 'int64' || dtype === 'uint64' ? String(value) : figure(Number(value));
  });
  return texts.join(', ') + (width > 8 ? ', …' : '');
}
