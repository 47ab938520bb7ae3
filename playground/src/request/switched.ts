/** A picture with another declaration than the package's: `serve` makes the tensors, then they are sent. */
import { PredictionError } from '@sagemaker-tfs/client';
import type { Declaration } from '../description.ts';
import type { PageRequest } from './ask.ts';

/** The fields that differ from the declared ones. */
export type Switched = Partial<Declaration>;

/** Fields that hold numbers. */
export const NUMBERS = ['scale', 'offset'] as const;

/** Texts of the fields that differ from the declared ones. */
export type SwitchedTexts = { readonly [K in keyof Declaration]?: string };

/** The numbers of a text, `1` or `0.5, 0.5, 0.5`; undefined for anything else. */
function numbersOf(text: string): readonly number[] | undefined {
  const numbers = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  return numbers.every(Number.isFinite) && numbers.length <= 4 ? numbers : undefined;
}

/** The fields whose text holds no numbers. */
export function wrongNumbers(texts: SwitchedTexts): readonly string[] {
  return NUMBERS.filter((name) => texts[name] !== undefined && !numbersOf(texts[name]));
}

/** What the texts say; those that hold no numbers are left out. */
export function switchedOf(texts: SwitchedTexts): Switched {
  const fields = Object.entries(texts).flatMap(([name, text]) => {
    const value = (NUMBERS as readonly string[]).includes(name) ? numbersOf(text) : text;
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(fields) as Switched;
}

/** Numbers of the channels as a text, one where all are the same. */
export function numbersText(values: readonly number[]): string {
  return new Set(values).size === 1 ? String(values[0]) : values.join(', ');
}

/** For `package --preprocess` and `serving.config.ts`. */
export function declarationText(switched: Switched): string {
  const short = (values: readonly number[]) => (values.length === 1 ? values[0] : values);
  const { scale, offset, ...rest } = switched;
  return JSON.stringify({
    ...rest,
    ...(scale && { scale: short(scale) }),
    ...(offset && { offset: short(offset) }),
  });
}

/**
 * The request with the tensors of its picture in place of the picture.
 * @throws PredictionError as `serve` refuses the declaration or the picture
 */
export async function withSwitched(
  request: PageRequest,
  model: string,
  signature: string,
  switched: Switched,
): Promise<PageRequest> {
  const query = new URLSearchParams({ model, signature, preprocess: declarationText(switched) });
  const answer = await fetch(`/playground/tensors?${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: request.body as BodyInit,
  });
  if (!answer.ok) {
    const { error = '', code = `HTTP_${answer.status}` } = (await answer.json()) as {
      error?: string;
      code?: string;
    };
    throw new PredictionError(code, error, { status: answer.status });
  }
  const body = new Uint8Array(await answer.arrayBuffer());
  return { ...request, body, contentType: 'application/x-npz', title: `${request.title}.npz` };
}
