/**
 * What SageMaker's agent has logged about the inputs of a transform job.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html
 */
import { type CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { JOB_LOG_GROUP } from './log-group.ts';

/** Lines of the agent, in their order. */
export interface JobLog {
  readonly lines: readonly string[];
  /** Why some may be missing; absent if these are all. */
  readonly cut?: string;
}

/** The agent marks its lines so; those of the container, in the same group, are not wanted. */
const MARK = '[sagemaker logs]: ';
/** A page has at most 1 MB, and may be empty. */
const MAX_PAGES = 200;
const MAX_CHARACTERS = 16 * 1024 ** 2;

/**
 * Reads the agent's lines, up to some megabytes. What CloudWatch refuses is no error: a reason that is not known must not
 * keep anybody from counting.
 * @param outOfTime asked before every page
 */
export async function readJobLog(
  logs: CloudWatchLogsClient,
  job: string,
  outOfTime: () => boolean = () => false,
): Promise<JobLog> {
  const lines: string[] = [];
  let characters = 0;
  let nextToken: string | undefined;
  try {
    for (let page = 0; page < MAX_PAGES && characters < MAX_CHARACTERS; page++) {
      if (outOfTime()) return { lines, cut: 'time ran out' };
      const found = await logs.send(
        new FilterLogEventsCommand({
          logGroupName: JOB_LOG_GROUP,
          logStreamNamePrefix: `${job}/`,
          filterPattern: `"${MARK.trim()}"`,
          nextToken,
        }),
      );
      for (const { message = '' } of found.events ?? []) {
        const at = message.indexOf(MARK);
        if (at < 0) continue;
        const line = message.slice(at + MARK.length);
        lines.push(line);
        characters += line.length;
      }
      nextToken = found.nextToken;
      if (nextToken === undefined) return { lines };
    }
  } catch (error) {
    const { name, message } = error as Error;
    return { lines, cut: `${name}: ${message}` };
  }
  return { lines, cut: 'it is too long' };
}
