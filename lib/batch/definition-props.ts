/** What the parts of the state machine's definition share. */
import type { FixedJobProps } from './transform-state.ts';

/** What the definition is made from; texts may hold CloudFormation tokens. */
export interface DefinitionProps extends FixedJobProps {
  /** JSON of the default settings. */
  readonly defaults: string;
  /** Function that plans shards and counts outputs. */
  readonly shardFunctionArn: string;
  /** Function that stops the jobs of a run that fails. */
  readonly stopFunctionArn: string;
  /** @default - no notification */
  readonly topicArn?: string;
  /**
   * Percentages of a sharded run's inputs at which the topic receives a message.
   * @default - none
   */
  readonly noticesAt?: readonly number[];
}

/** Where the machine goes when the work is done, and when it is not. */
export interface Ends {
  readonly success: string;
  /** Takes `{error, reason}`. */
  readonly failure: string;
}
