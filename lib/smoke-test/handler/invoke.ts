/** One call of an endpoint that answers at once, timed as a caller sees it. */
import {
  InvokeEndpointCommand,
  ModelError,
  type SageMakerRuntimeClient,
} from '@aws-sdk/client-sagemaker-runtime';
import { smokeTestFailure } from '../../errors.ts';
import { type Ask, attributesOf } from './ask.ts';
import { whenAwake } from './awake.ts';

/** Asks with InvokeEndpoint. A refusal has the status that the model answered. */
export function askAtOnce(client: SageMakerRuntimeClient): Ask {
  return async (route, sample, body) => {
    const command = new InvokeEndpointCommand({
      EndpointName: route.endpointName,
      ...(route.componentName === undefined
        ? { TargetVariant: route.variant }
        : { InferenceComponentName: route.componentName }),
      Body: body,
      ContentType: sample.contentType,
      ...(sample.accept && { Accept: sample.accept }),
      ...(sample.targetModel && { TargetModel: sample.targetModel }),
      CustomAttributes: attributesOf(route, sample),
    });
    try {
      const { answer, ms } = await whenAwake(route.deadline, async () => {
        const start = performance.now();
        const answer = await client.send(command);
        return { answer, ms: performance.now() - start };
      });
      const { Body, ContentType, CustomAttributes } = answer;
      return {
        ms,
        body: Body ?? new Uint8Array(),
        contentType: ContentType ?? '',
        customAttributes: CustomAttributes ?? '',
      };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const got = `${error.OriginalStatusCode ?? 'no status'}: ${error.OriginalMessage ?? error.message}`;
      throw smokeTestFailure('status', '200', got.slice(0, 500));
    }
  };
}
