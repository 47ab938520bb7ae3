/** The way from a request to its answer, with HTTP or without. */
import { ServingError } from '../errors.ts';
import { type HandlerAnswer, runHandler } from '../handler/run.ts';
import type { RequestAttributes } from '../inference/custom-attributes.ts';
import { defaultHandler } from '../inference/default-handler.ts';
import { createInference, type Inference, type InferenceOptions } from '../inference/inference.ts';
import type { Services } from './services.ts';

/** A request whose model is there. */
interface Prepared {
  readonly inference: Inference;
  /** @throws ServingError, HttpError */
  answer(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<HandlerAnswer>;
}

/** @throws ServingError BAD_REQUEST if the request names no model and there is no default */
export function modelOf({ modelName }: RequestAttributes, { defaultModel }: Services): string {
  const name = modelName ?? defaultModel;
  if (name !== undefined) return name;
  throw new ServingError(
    'BAD_REQUEST',
    'the request names no model. POST to /models/<name>/invoke or set the custom attribute tfs-model-name.',
  );
}

/** Waits for the model; the archive's handler or the codecs answer then. */
export async function prepare(
  services: Services,
  options: Omit<InferenceOptions, 'archive' | 'log'>,
): Promise<Prepared> {
  await services.readiness.whenReady(options.signal);
  // The model may have been loaded again meanwhile.
  const archive = services.archiveOf(options.modelName);
  const { handler } = archive;
  if (handler) await services.watched;
  const inference = await createInference(services, { ...options, archive, log: services.log });
  // Only now: asking for the signatures waits for a model server that is being started again, too.
  options.stopwatch.ready();
  return {
    inference,
    async answer(body) {
      if (handler) return runHandler(handler, body, inference, services.endpoint);
      const whole = body instanceof Uint8Array ? body : new Uint8Array();
      return { status: 200, ...(await defaultHandler(whole, inference)) };
    },
  };
}
