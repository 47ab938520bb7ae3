/** One call of an endpoint that answers at once, timed as a caller sees it. */
import {
  InvokeEndpointCommand,
  ModelError,
  type SageMakerRuntimeClient,
} from '@aws-sdk/client-sagemaker-runtime';
import { smokeTestFailure } from '../../errors.ts';
import { type Ask, attributesOf } from './ask.ts';

/** Asks with InvokeEndpoint. A refusal has the status that the model answered. */
export function askAtOnce(client: SageMakerRuntimeClient): Ask {
  return async (route, sample, body) => {
    const command = new InvokeEndpointCommand({
      EndpointName: route.endpointName,
      TargetVariant: route.variant,
      Body: body,
      ContentType: sample.contentType,
      ...(sample.accept && { Accept: sample.accept }),
      ...(sample.targetModel && { TargetModel: sample.targetModel }),
      CustomAttributes: attributesOf(route, sample),
    });
    const start = performance.now();
    try {
      const { Body, ContentType, CustomAttributes } = await client.send(command);
      return {
        ms: performance.now() - start,
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
