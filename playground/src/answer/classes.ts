/** Classes with their scores, wherever an answer holds some. */
import type { TypedTensor } from '@sagemaker-tfs/client';

/** One class. */
export interface ScoredClass {
  readonly name: string;
  readonly score: number;
}

/** The classes of each input of an answer. */
export interface Classes {
  /** The output that holds the scores, and the one that holds the names where there is one. */
  readonly outputs: readonly [scores: string, names?: string];
  /** Inputs that were answered. */
  readonly rows: number;
  /** Classes of an input, best first. @param row from 0 */
  readonly of: (row: number) => readonly ScoredClass[];
}

const MIN_CLASSES = 2;
const MAX_CLASSES = 50_000;
const NAMED = /prob|score|softmax|logit|class|predict|dense|output/i;

/**
 * The classes of an answer: `classes` beside `scores` as `topK` makes them, else the one output of scores, which has
 * the shape [N, classes].
 */
export function classesOf(
  tensors: Readonly<Record<string, TypedTensor>>,
  labels: readonly string[],
): Classes | undefined {
  return bestClasses(tensors) ?? scoresOf(tensors, labels);
}

/** The classes of a classification: `{"results": [[["label", score]]]}`, an entry for each example. */
export function classesOfResults(answer: unknown): Classes | undefined {
  const results = (answer as { results?: unknown } | null)?.results;
  if (!Array.isArray(results) || results.length === 0 || !results.every(isLabeledList)) return;
  const all: readonly (readonly [string, number][])[] = results;
  return {
    outputs: ['results'],
    rows: all.length,
    of: (row) =>
      best((all[row] ?? []).map(([label, score], at) => ({ name: label || `class ${at}`, score }))),
  };
}

function isLabeledList(entry: unknown): entry is [label: string, score: number][] {
  return Array.isArray(entry) && entry.every(isLabeled);
}

/** Best first; NaN, which is no score, last. */
export function byScore(a: { readonly score: number }, b: { readonly score: number }): number {
  return Number(Number.isNaN(a.score)) - Number(Number.isNaN(b.score)) || b.score - a.score || 0;
}

function best(classes: ScoredClass[]): ScoredClass[] {
  return classes.sort(byScore);
}

function isLabeled(entry: unknown): entry is [label: string, score: number] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';
}

function bestClasses(tensors: Readonly<Record<string, TypedTensor>>): Classes | undefined {
  const { classes, scores } = tensors;
  if (!classes || !scores || scores.dtype === 'string') return undefined;
  if (scores.shape.length !== 2 || classes.data.length !== scores.data.length) return undefined;
  const [rows = 0, width = 0] = scores.shape;
  const decoder = new TextDecoder();
  const classAt = (at: number): ScoredClass => {
    const name = classes.data[at];
    return {
      name: name instanceof Uint8Array ? decoder.decode(name) : `class ${name}`,
      score: Number(scores.data[at]),
    };
  };
  return {
    outputs: ['scores', 'classes'],
    rows,
    of: (row) => Array.from({ length: width }, (_, at) => classAt(row * width + at)),
  };
}

function scoresOf(
  tensors: Readonly<Record<string, TypedTensor>>,
  labels: readonly string[],
): Classes | undefined {
  const rows = Object.entries(tensors).filter(([, tensor]) => isScores(tensor));
  const named = rows.filter(([name]) => NAMED.test(name));
  const [output, tensor] = (named.length > 0 ? named : rows)[0] ?? [];
  if (output === undefined || !tensor || (rows.length > 1 && named.length !== 1)) return undefined;
  const [count = 0, width = 0] = tensor.shape;
  return {
    outputs: [output],
    rows: count,
    of: (row) =>
      best(
        Array.from({ length: width }, (_, at) => ({
          name: labels[at] || `class ${at}`,
          score: Number(tensor.data[row * width + at]),
        })),
      ),
  };
}

function isScores({ dtype, shape }: TypedTensor): boolean {
  const [rows = 0, width = 0] = shape;
  const fits = shape.length === 2 && rows >= 1 && width >= MIN_CLASSES && width <= MAX_CLASSES;
  return fits && /float/.test(dtype);
}

/** True where scores can be shown as shares: none below 0 or above 1. */
export function areShares(classes: readonly ScoredClass[]): boolean {
  return classes.every(({ score }) => score >= 0 && score <= 1.000001);
}

/**
 * How long the bar of a score is, from 0 to 1. Shares are of the whole; other scores of the best one, and where some are
 * below 0, from the lowest on: no class has a longer bar than a better one.
 */
export function barOf(classes: readonly ScoredClass[]): (score: number) => number {
  const finite = classes.map(({ score }) => score).filter(Number.isFinite);
  const from = finite.reduce((least, score) => Math.min(least, score), 0);
  const to = areShares(classes) ? 1 : finite.reduce((most, score) => Math.max(most, score), from);
  const range = to - from || 1;
  return (score) => Math.max(0, Math.min(1, (score - from) / range)) || 0;
}
