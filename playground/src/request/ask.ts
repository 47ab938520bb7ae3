/** A request of the page, and what came of it. */
import {
  type Answer,
  PredictionError,
  type PredictOptions,
  predict,
  type RequestAttributes,
} from '@sagemaker-tfs/client';
import type { PictureInput } from '../description.ts';
import type { Source } from './source.ts';

/** A request as the page holds it. */
export interface PageRequest {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly accept: string;
  readonly attributes: RequestAttributes;
  /** For people: the file's name or the kind of input. */
  readonly title: string;
  readonly source: Source;
  /** The picture that was sent. */
  readonly picture?: Blob | undefined;
  /** The table that was pasted, a list of cells for each row. */
  readonly table?: readonly (readonly string[])[] | undefined;
  /** How the model sees the picture, if that was switched for this request. */
  readonly frame?: PictureInput | undefined;
}

/** What came of a request. */
export interface Outcome {
  readonly id: number;
  readonly at: Date;
  readonly request: PageRequest;
  readonly milliseconds: number;
  readonly answer?: Answer;
  readonly error?: { readonly code: string; readonly message: string; readonly status: number };
}

let asked = 0;

/**
 * Sends the request once. Never rejects: an error is an outcome too.
 * @param prepare changes the request before it is sent; its time does not count
 */
export async function ask(
  given: PageRequest,
  prepare?: (request: PageRequest) => Promise<PageRequest>,
): Promise<Outcome> {
  asked += 1;
  let about = { id: asked, at: new Date(), request: given };
  let from = performance.now();
  try {
    const request = (await prepare?.(given)) ?? given;
    about = { ...about, request };
    from = performance.now();
    const answer = await send(request);
    return { ...about, answer, milliseconds: performance.now() - from };
  } catch (error) {
    return { ...about, error: errorOf(error), milliseconds: performance.now() - from };
  }
}

function send({ body, contentType, accept, attributes }: PageRequest): Promise<Answer> {
  const options: PredictOptions = { contentType, accept, customAttributes: attributes, retries: 0 };
  return predict({ url: location.origin }, body, options);
}

function errorOf(error: unknown): NonNullable<Outcome['error']> {
  if (!(error instanceof PredictionError)) {
    return { code: 'PAGE_ERROR', message: String(error), status: 0 };
  }
  // The address is this page's own.
  const message = error.message.replace(/^\S+ answered \d+: /, '');
  return { code: error.code, message, status: error.status ?? 0 };
}

/** Sends the request `count` times, one after another. @returns milliseconds of each */
export async function measure(
  request: PageRequest,
  count: number,
  onDone: (done: number) => void,
): Promise<number[]> {
  const times: number[] = [];
  while (times.length < count) {
    const from = performance.now();
    await send(request);
    times.push(performance.now() - from);
    onDone(times.length);
  }
  return times;
}
