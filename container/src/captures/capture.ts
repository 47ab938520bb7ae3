/** What SageMaker keeps of a request: a line of a file of its data capture. */
import { TensorError } from '@sagemaker-tfs/tensors';
import * as z from 'zod';

const side = z.object({
  observedContentType: z.string().default(''),
  data: z.string(),
  encoding: z.string().default('BASE64'),
});

const line = z.object({
  captureData: z.object({ endpointInput: side.optional(), endpointOutput: side.optional() }),
  eventMetadata: z
    .object({ eventId: z.string().optional(), inferenceId: z.string().optional() })
    .default({}),
});

/** A body, and what its sender called it. */
export interface CapturedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** One request that was captured. */
export interface Capture {
  /** SageMaker's id of the request, or the caller's. */
  readonly id: string | undefined;
  readonly input: CapturedBody | undefined;
  readonly output: CapturedBody | undefined;
}

/**
 * Reads a line of a capture file.
 * @throws TensorError MALFORMED for what SageMaker does not write
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html
 */
export function parseCapture(text: string): Capture {
  const parsed = line.safeParse(jsonOf(text));
  if (!parsed.success) throw new TensorError('MALFORMED', 'the line is no capture of SageMaker.');
  const { captureData, eventMetadata } = parsed.data;
  return {
    id: eventMetadata.inferenceId ?? eventMetadata.eventId,
    input: bodyOf(captureData.endpointInput),
    output: bodyOf(captureData.endpointOutput),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** SageMaker writes the text types that its configuration lists as they are, everything else in base64. */
function bodyOf(one: z.output<typeof side> | undefined): CapturedBody | undefined {
  if (!one) return undefined;
  const bytes = Buffer.from(one.data, one.encoding === 'BASE64' ? 'base64' : 'utf8');
  const [contentType = ''] = one.observedContentType.split(';');
  return { contentType: contentType.trim().toLowerCase(), bytes };
}
