/** What the honest clients ask: pictures and JSON for the digits model, with the answers of an undisturbed runtime. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ask } from './clients.ts';
import type { Question } from './question.ts';

const SAMPLES = resolve('examples/digits/samples');
const PICTURES = 6;
/** Enough text for a thread of its own to read it. */
const ROWS = 64;
const SIDE = 28;

/**
 * Asks an undisturbed runtime for the goldens.
 * @throws where a picture is not the digit that its name tells
 */
export async function digitQuestions(url: string, path = '/invocations'): Promise<Question[]> {
  const pictures = readdirSync(SAMPLES)
    .sort()
    .slice(0, PICTURES)
    .map((name) => ({
      contentType: 'application/x-image',
      body: readFileSync(join(SAMPLES, name)),
      digit: Number(/-(\d)[.]/.exec(name)?.[1]),
    }));
  const json = [1, ROWS].map((rows) => ({
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify({ instances: Array.from({ length: rows }, row) })),
    digit: undefined,
  }));
  const questions: Question[] = [];
  for (const { digit, ...question } of [...pictures, ...json]) {
    const text = await golden(url, { ...question, path });
    if (digit !== undefined && !text.startsWith(`{"predictions":[{"digit":${digit},`)) {
      throw new Error(`an undisturbed runtime says ${text.slice(0, 100)} of a ${digit}`);
    }
    questions.push({ ...question, path, golden: text });
  }
  return questions;
}

/** The answer of an undisturbed runtime. @throws where it is none */
export async function golden(url: string, question: Omit<Question, 'golden'>): Promise<string> {
  const answer = await ask(url, question, false);
  if ('lost' in answer || answer.status !== 200) {
    throw new Error(`an undisturbed runtime answers ${JSON.stringify(answer)}`);
  }
  return answer.text;
}

/** A picture of its own for every row. */
function row(_: unknown, index: number): number[][][] {
  const level = (y: number, x: number) => ((index + 3 * y + 5 * x) % 9) / 8;
  return Array.from({ length: SIDE }, (_y, y) =>
    Array.from({ length: SIDE }, (_x, x) => [level(y, x)]),
  );
}
