/** A pasted table with the answer to each row beside it. */
import type { TypedTensor } from '@sagemaker-tfs/client';
import { figure } from './statistics.ts';

/** Rows that are shown. */
const SHOWN = 200;

interface Props {
  readonly rows: readonly (readonly string[])[];
  readonly tensors: Readonly<Record<string, TypedTensor>>;
}

/** Nothing where the answer does not have a row for each of the table's. */
export function TableView({ rows, tensors }: Props) {
  const answers = Object.entries(tensors);
  const count = answers[0]?.[1].shape[0] ?? 0;
  const hasHeader = rows.length === count + 1;
  const body = hasHeader ? rows.slice(1) : rows;
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (body.length !== count) return null;
  return (
    <section aria-label="Table with answers">
      <h3>Answers by row</h3>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              {Array.from({ length: width }, (_, at) => (
                <th key={at} scope="col">
                  {hasHeader ? rows[0]?.[at] : `column ${at + 1}`}
                </th>
              ))}
              {answers.map(([name]) => (
                <th key={name} scope="col" class="answer">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.slice(0, SHOWN).map((row, index) => (
              <tr key={index}>
                {Array.from({ length: width }, (_, at) => (
                  <td key={at}>{row[at]}</td>
                ))}
                {answers.map(([name, tensor]) => (
                  <td key={name} class="answer">
                    {rowText(tensor, index)}
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

function rowText({ dtype, shape, data }: TypedTensor, row: number): string {
  const width = shape.slice(1).reduce((a, b) => a * b, 1);
  const values = Array.from({ length: Math.min(width, 8) }, (_, at) => data[row * width + at]);
  const decoder = new TextDecoder();
  const texts = values.map((value) => {
    if (value instanceof Uint8Array) return decoder.decode(value);
    return dtype === 'int64' || dtype === 'uint64' ? String(value) : figure(Number(value));
  });
  return texts.join(', ') + (width > 8 ? ', …' : '');
}
