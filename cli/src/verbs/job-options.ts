/** What the verbs about a started job have in common. */
import { type Command, Option } from 'commander';

/** Options of all of them. */
export interface Shared {
  readonly region?: string;
  readonly json?: true;
}

/** What `batch start` was given as its engine. */
export type Engine = 'transform' | 'processing' | 'batch';

export const JOB = "name of the transform job, or ARN of a state machine's execution";
export const ANY_JOB = `${JOB}; of a worker, name of the Processing job or id of the AWS Batch job`;

/** Adds the options of all of them. */
export function shared(command: Command): Command {
  return command
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON')
    .exitOverride();
}

export function engineOption(): Option {
  return new Option('--engine <name>', 'what batch start was given')
    .choices(['transform', 'processing', 'batch'] satisfies Engine[])
    .default('transform');
}
