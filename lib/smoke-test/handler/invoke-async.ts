/** One call of an asynchronous endpoint: the sample put into S3, the answer waited for there. */
import { randomUUID } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import {
  InvokeEndpointAsyncCommand,
  type SageMakerRuntimeClient,
} from '@aws-sdk/client-sagemaker-runtime';
import { parseS3Uri } from '@sagemaker-tfs/batch';
import { smokeTestFailure } from '../../errors.ts';
import { type Ask, attributesOf, type Route } from './ask.ts';
import type { Reply } from './reply.ts';

/** What the queue is asked through. */
interface QueueClients {
  readonly runtime: SageMakerRuntimeClient;
  readonly s3: S3Client;
}

/** Pause between two looks for the answer; what it adds to a latency is at most this. */
const POLL_MS = 500;
/** Shortest and longest life of a request in the queue that InvokeEndpointAsync takes, seconds. */
const TTL = { least: 60, most: 21_600 };
/** What S3 says of an object that was put without a type. */
const UNTYPED = /^(binary|application)\/octet-stream$/;

/**
 * Asks with InvokeEndpointAsync. Its answers name neither variant nor model.
 * @param inputUri `s3://BUCKET/PREFIX/` that the endpoint reads; each sample lies there while it is asked
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointAsync.html
 */
export function askThroughQueue({ runtime, s3 }: QueueClients, inputUri: string): Ask {
  return async (route, sample, body) => {
    const input = placeOf(`${inputUri}smoke-test/${randomUUID()}`);
    await s3.send(new PutObjectCommand({ ...input, Body: body, ContentType: sample.contentType }));
    const seconds = Math.ceil((route.deadline - Date.now()) / 1_000);
    const start = performance.now();
    try {
      const { OutputLocation = '', FailureLocation } = await runtime.send(
        new InvokeEndpointAsyncCommand({
          EndpointName: route.endpointName,
          InputLocation: `s3://${input.Bucket}/${input.Key}`,
          ContentType: sample.contentType,
          ...(sample.accept && { Accept: sample.accept }),
          CustomAttributes: attributesOf(route, sample),
          // SageMaker drops requests that are unanswered by then.
          RequestTTLSeconds: Math.min(TTL.most, Math.max(TTL.least, seconds)),
        }),
      );
      const reply = await answerAt(s3, route, OutputLocation, FailureLocation);
      const ms = performance.now() - start;
      const type = UNTYPED.test(reply.contentType) && (sample.accept ?? 'application/json');
      return { ...reply, ms, ...(type && { contentType: type }) };
    } finally {
      await s3.send(new DeleteObjectCommand(input));
    }
  };
}

/** @throws ConstructError SMOKE_TEST_FAILED with what lies at the place of failures, or where the time is over */
async function answerAt(
  s3: S3Client,
  { deadline }: Route,
  output: string,
  failure: string | undefined,
): Promise<Reply> {
  for (;;) {
    const reply = await objectAt(s3, output);
    if (reply) return reply;
    const failed = failure === undefined ? undefined : await objectAt(s3, failure);
    if (failed) {
      const got = Buffer.from(failed.body).toString();
      throw smokeTestFailure('status', '200', got.slice(0, 500));
    }
    if (Date.now() + POLL_MS > deadline) {
      const got = `none at ${output} (no instance may run: one that sleeps needs minutes to wake)`;
      throw smokeTestFailure('answer', "one before the function's time ends", got);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function objectAt(s3: S3Client, uri: string): Promise<Reply | undefined> {
  try {
    const { Body, ContentType = '' } = await s3.send(new GetObjectCommand(placeOf(uri)));
    const body = (await Body?.transformToByteArray()) ?? new Uint8Array();
    return { body, contentType: ContentType, customAttributes: '' };
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

function placeOf(uri: string): { Bucket: string; Key: string } {
  const { bucket, key } = parseS3Uri(uri);
  return { Bucket: bucket, Key: key };
}
