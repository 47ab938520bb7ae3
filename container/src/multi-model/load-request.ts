/** The body of `POST /models`, parsed. */
import * as z from 'zod';
import { ServingError } from '../errors.ts';

const loadRequest = z.object({ model_name: z.string().min(1), url: z.string().min(1) });

/** @throws ServingError BAD_REQUEST */
export function parseLoadRequest(body: Buffer): z.output<typeof loadRequest> {
  try {
    return loadRequest.parse(JSON.parse(body.toString('utf8')));
  } catch (cause) {
    throw new ServingError(
      'BAD_REQUEST',
      'the body must be {"model_name": "...", "url": "..."}, the url a directory.',
      { cause },
    );
  }
}
