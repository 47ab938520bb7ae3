/** A picture with another declaration than the package's: `serve` makes the tensors, then they are sent. */
import { PredictionError } from '@sagemaker-tfs/client';
import type { Declaration } from '../description.ts';
import type { PageRequest } from './ask.ts';
import type { Texts } from './source.ts';

/** The fields that differ from the declared ones. */
export type Switched = Partial<Declaration>;

/** Fields that hold numbers. */
export const NUMBERS = ['scale', 'offset'] as const;

/** Texts of the fields that differ from the declared ones. */
export type SwitchedTexts = { readonly [K in keyof Declaration]?: string };

const CHANNELS = 4;

/** The parts of `1`, `0.5, 0.5, 0.5` or, as {@link declarationText} writes it, `[0.5,0.5,0.5]`. */
function partsOf(text: string): string[] {
  const list = /^\s*\[(.*)\]\s*$/.exec(text)?.[1] ?? text;
  return list.split(',').map((part) => part.trim());
}

/** What is wrong with the text; undefined if it holds numbers. */
function faultOf(text: string): string | undefined {
  const parts = partsOf(text);
  const wrong = parts.find((part) => part === '' || !Number.isFinite(Number(part)));
  if (wrong !== undefined) return `'${wrong}' is no number. One, or one for each channel: 1, 1, 1`;
  return parts.length > CHANNELS
    ? `${parts.length} numbers, but at most ${CHANNELS} channels`
    : undefined;
}

/** What is wrong with each field whose text holds no numbers. */
export function wrongNumbers(texts: SwitchedTexts): Texts {
  return Object.fromEntries(
    NUMBERS.flatMap((name) => {
      const fault = faultOf(texts[name] ?? '0');
      return fault === undefined ? [] : [[name, fault]];
    }),
  );
}

/** What the texts say; those that hold no numbers are left out. */
export function switchedOf(texts: SwitchedTexts): Switched {
  const fields = Object.entries(texts).flatMap(([name, text]) => {
    if (!(NUMBERS as readonly string[]).includes(name)) return [[name, text]];
    return faultOf(text) === undefined ? [[name, partsOf(text).map(Number)]] : [];
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
