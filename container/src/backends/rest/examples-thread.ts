/** TensorFlow Serving's large results of Classify and Regress over REST, read in a thread. */
import type { AbortSignalLike, TensorMap } from '@sagemaker-tfs/tensors';
import type { Answer } from '../../threads/answer-tasks.ts';
import { type HandedTensors, handedOver, takenOver } from '../../threads/handed-tensors.ts';
import { readInThread, type TextTask } from '../../threads/text-threads.ts';
import { eachInTurns } from '../../waiting/in-turns.ts';
import type { ExamplesReply, ExamplesRequest, LabeledScore } from '../backend.ts';
import { readExamplesReply } from './examples-json.ts';

/** Results to read, as {@link readExamplesReply} reads them. */
export interface ResultsTask extends TextTask {
  readonly kind: 'results';
  readonly method: ExamplesRequest['method'];
}

/** The results in an answer, read in a thread where that pays. @throws the signal's reason */
export async function readResults(
  body: Uint8Array,
  method: ExamplesRequest['method'],
  signal: AbortSignalLike | undefined,
): Promise<ExamplesReply> {
  const task: ResultsTask = { kind: 'results', body, method };
  const read = await readInThread<HandedTensors>(task, signal);
  return read === undefined ? readExamplesReply(body, method) : takenResults(read, method, signal);
}

/** In the main thread: the results that {@link answerResults} has sent, in turns. @throws the signal's reason */
export async function takenResults(
  read: HandedTensors,
  method: ExamplesRequest['method'],
  signal?: AbortSignalLike,
): Promise<ExamplesReply> {
  const columns = await takenOver(read, signal);
  return method === 'regress'
    ? { regressions: await valuesOf(columns, signal) }
    : { classifications: await rowsOf(columns, signal) };
}

/** What the thread does: columns of numbers and texts, which go over quicker than objects. */
export function answerResults({ body, method }: ResultsTask): Answer<HandedTensors> {
  const { classifications = [], regressions } = readExamplesReply(body, method);
  const all = classifications.flat();
  const labels = all.map(({ label }) => label);
  const { tensors, moved } = handedOver({
    scores: float64(regressions ?? all.map(({ score }) => score)),
    ...(!regressions && {
      sizes: float64(classifications.map(({ length }) => length)),
      labels: { dtype: 'string', shape: [labels.length], values: labels },
    }),
  });
  return { result: tensors, moved };
}

function float64(values: readonly number[]): TensorMap[string] {
  const numbers = Float64Array.from(values);
  return { dtype: 'float64', shape: [numbers.length], bytes: new Uint8Array(numbers.buffer) };
}

function numbersOf(columns: TensorMap, name: string): Float64Array {
  const column = columns[name];
  if (column === undefined || column.dtype === 'string') return new Float64Array(0);
  const { buffer, byteOffset, byteLength } = column.bytes;
  return new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT);
}

async function valuesOf(columns: TensorMap, signal: AbortSignalLike | undefined) {
  const values: number[] = [];
  await eachInTurns(numbersOf(columns, 'scores'), (value) => values.push(value), { signal });
  return values;
}

async function rowsOf(columns: TensorMap, signal: AbortSignalLike | undefined) {
  const { labels } = columns;
  const texts = labels?.dtype === 'string' ? labels.values : [];
  const scores = numbersOf(columns, 'scores');
  const rows: LabeledScore[][] = [];
  let at = 0;
  // Undefined begins a row: one turn has as many classes, be they of one row or of many.
  const add = (step: true | undefined) => {
    if (step === undefined) return rows.push([]);
    const label = texts[at] ?? new Uint8Array(0);
    return rows.at(-1)?.push({ label, score: scores[at++] ?? Number.NaN });
  };
  await eachInTurns(stepsOf(numbersOf(columns, 'sizes')), add, { signal });
  return rows;
}

function* stepsOf(sizes: Float64Array): Iterable<true | undefined> {
  for (const size of sizes) {
    yield undefined;
    for (let item = 0; item < size; item++) yield true;
  }
}
