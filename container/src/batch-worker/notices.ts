/** Messages on the way: once this share of a run's ranges is done, a topic of SNS gets a message, once for all workers. */
import { noticeKey, noticesReached, WORKER_DONE } from '@sagemaker-tfs/batch';
import type { WorkerOptions } from './options.ts';
import type { Store } from './store.ts';

/** What a message says. */
export interface Notice {
  /** Prefix of the answers. */
  readonly outputUri: string;
  /** The percentage that was reached. */
  readonly percent: number;
  /** Ranges of all workers that are done, and all ranges. */
  readonly ranges: number;
  readonly of: number;
}

/** Sends a message. */
export type Publish = (topic: string, subject: string, notice: Notice) => Promise<void>;

/**
 * Returns a function that tells of what was reached since its last call. A message that cannot be sent changes nothing about
 * the work, and is not sent again.
 * @param onFailure receives the reason why a message was not sent
 */
export function noticeTeller(
  store: Store,
  { outputUri, noticesAt, noticeTopic }: WorkerOptions,
  { publish, onFailure }: { publish: Publish; onFailure: (error: unknown) => void },
): (of: number) => Promise<void> {
  if (noticeTopic === undefined) return async () => undefined;
  // Notices that this process or another one has sent.
  const known = new Set<number>();
  const tell = async (of: number) => {
    const ranges = (await store.list(WORKER_DONE)).length;
    const own: number[] = [];
    for (const percent of noticesReached(noticesAt, ranges, of)) {
      if (known.has(percent)) continue;
      const text = Buffer.from(JSON.stringify({ ranges, of }));
      const isFirst = await store.create(noticeKey(percent), text, 'application/json');
      known.add(percent);
      if (isFirst) own.push(percent);
    }
    if (own.length === 0) return;
    const percent = Math.max(...own);
    const notice: Notice = { outputUri, percent, ranges, of };
    await publish(noticeTopic, `Batch worker ${percent}% done`, notice);
  };
  return (of) => (known.size === noticesAt.length ? Promise.resolve() : tell(of).catch(onFailure));
}

/** Publishes with the SDK, which is loaded for the first message. The topic's ARN names its region. */
export async function publishToTopic(
  topic: string,
  subject: string,
  notice: Notice,
): Promise<void> {
  const { PublishCommand, SNSClient } = await import('@aws-sdk/client-sns');
  const sns = new SNSClient({ region: topic.split(':')[3] as string });
  try {
    const Message = JSON.stringify(notice);
    await sns.send(new PublishCommand({ TopicArn: topic, Subject: subject, Message }));
  } finally {
    sns.destroy();
  }
}
