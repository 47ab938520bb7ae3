/** A way to ask an endpoint: at once, or through its queue. */
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import type { SmokeTestSample } from '../plan.ts';
import type { Reply } from './reply.ts';

/** An answer and the time until its last byte, milliseconds. */
interface TimedReply extends Reply {
  readonly ms: number;
}

/** Where a request goes and how. */
export interface Route {
  readonly endpointName: string;
  readonly variant: string;
  /** SageMaker's name of the inference component, in place of a variant. */
  readonly componentName?: string;
  readonly transport: Transport;
  /** When the answer must be there, milliseconds since 1970. */
  readonly deadline: number;
}

/** Sends a sample and waits for its answer. @throws ConstructError SMOKE_TEST_FAILED with the text of the model's refusal */
export type Ask = (route: Route, sample: SmokeTestSample, body: Uint8Array) => Promise<TimedReply>;

/** Custom attributes of a sample's request. */
export function attributesOf({ transport }: Route, { customAttributes }: SmokeTestSample): string {
  return [`tfs-transport=${transport}`, customAttributes].filter(Boolean).join(',');
}
