/**
 * CloudFormation's custom resource protocol: one JSON document PUT to a presigned URL.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
 */
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { ConstructError } from '../../errors.ts';

/** What CloudFormation sends, as far as it is used here. */
export interface CustomResourceEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly ResponseURL: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: Readonly<Record<string, string>>;
}

/** How a request ended. */
export interface CustomResourceResult {
  readonly status: 'SUCCESS' | 'FAILED';
  readonly reason?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * CloudFormation takes 4096 bytes in all, attributes included.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
 */
const MAX_BYTES = 4096;
/** CloudFormation shows about 1000 characters of the reason. */
const MAX_REASON = 1000;
const ATTEMPTS = 3;
/** Of one attempt: all of them fit into the time that is kept for the answer. */
const ATTEMPT_MS = 8_000;

/** Tells CloudFormation. Tries again on failure: without this answer the stack waits for its time-out. */
export async function respond(
  event: CustomResourceEvent,
  physicalResourceId: string,
  result: CustomResourceResult,
): Promise<void> {
  const body = responseBody(event, physicalResourceId, result);
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(event.ResponseURL, {
        method: 'PUT',
        body,
        signal: AbortSignal.timeout(ATTEMPT_MS),
        // The presigned URL covers an empty content type.
        headers: { 'content-type': '' },
      });
      if (response.ok) return;
      throw new ConstructError(
        'RESPONSE_NOT_SENT',
        `the response URL answered ${response.status}: ${sentence(await response.text())} Deploy the stack again.`,
      );
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * attempt));
    }
  }
}

/** The answer as JSON; the reason is cut until everything fits. */
function responseBody(
  event: CustomResourceEvent,
  physicalResourceId: string,
  result: CustomResourceResult,
): string {
  const withReason = (length: number) =>
    JSON.stringify({
      Status: result.status,
      Reason: (result.reason ?? 'see the log').slice(0, length),
      PhysicalResourceId: physicalResourceId,
      StackId: event.StackId,
      RequestId: event.RequestId,
      LogicalResourceId: event.LogicalResourceId,
      Data: result.data ?? {},
    });
  let length = MAX_REASON;
  let body = withReason(length);
  while (Buffer.byteLength(body) > MAX_BYTES && length > 1) {
    length = Math.floor(length * 0.8);
    body = withReason(length);
  }
  return body;
}
