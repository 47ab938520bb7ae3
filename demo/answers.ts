/** The batch's answers beside the labels, which stand in the names of the images (`00012-7.png`). */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { outputPath } from 'sagemaker-tfs/development/batch';
import { parsePrediction } from './latency.ts';

/** What the model said of one image. */
export interface Answered {
  /** Name of the image's file. */
  readonly key: string;
  /** The digit that it shows. */
  readonly label: number;
  /** The digit that the model saw, and how likely it found that. */
  readonly digit: number;
  readonly probability: number;
}

/** Reads every output. */
export async function readAnswers(output: string, keys: readonly string[]): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const key of [...keys].sort()) {
    const { digit, probabilities } = parsePrediction(
      await readFile(outputPath(output, key), 'utf8'),
    );
    const label = Number(/-(\d)\./.exec(key)?.[1]);
    answers.push({ key, label, digit, probability: probabilities[digit] ?? 0 });
  }
  return answers;
}

export const isRight = ({ label, digit }: Answered) => label === digit;

/** Share of right answers. */
export function accuracy(answers: readonly Answered[]): number {
  return answers.filter(isRight).length / answers.length;
}

/** Mean bytes of the first images and of the answers to them. */
export async function meanSizes(
  images: string,
  output: string,
  answers: readonly Answered[],
): Promise<{ readonly inputBytes: number; readonly outputBytes: number }> {
  const some = answers.slice(0, 100);
  const mean = async (pathOf: (key: string) => string) => {
    const sizes = await Promise.all(some.map(async ({ key }) => (await stat(pathOf(key))).size));
    return sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length);
  };
  return {
    inputBytes: await mean((key) => join(images, key)),
    outputBytes: await mean((key) => outputPath(output, key)),
  };
}
