/** A transform job, or an execution in the same terms: its settings and its state. */
import { type DecisiveSettings, NO_SUCH_JOB, type S3Location } from '@sagemaker-tfs/batch';
import type { TransformPlaces } from './transform-places.ts';

/** Status by SageMaker's names. */
export type JobStatus = 'InProgress' | 'Completed' | 'Failed' | 'Stopping' | 'Stopped';

/** A job that a state machine started. */
export interface StartedJob {
  readonly createdAt: Date;
  readonly endedAt: Date | undefined;
}

/** A job as SageMaker describes it. */
export interface TransformJob extends TransformPlaces {
  readonly name: string;
  readonly status: JobStatus;
  readonly failureReason: string | undefined;
  readonly instanceType: string;
  readonly instanceCount: number;
  readonly accept: string | undefined;
  readonly createdAt: Date;
  /** Undefined while the instances are being made. */
  readonly startedAt: Date | undefined;
  readonly endedAt: Date | undefined;
  /** The transform jobs of a state machine's execution; absent where this is a transform job itself. */
  readonly jobs?: readonly StartedJob[];
  /** True for a sharded run: an output that was there before it is done. */
  readonly continues?: boolean;
  /** Folder of a sharded run; absent for one job. */
  readonly run?: S3Location;
  /** Hours of all instances after which the run starts no more jobs; absent without a limit. */
  readonly budgetInstanceHours?: number;
  /** What decides the answers of a transform job; absent for an execution, whose outputs have a time. */
  readonly madeWith?: DecisiveSettings & { readonly modelName: string };
}

const UNKNOWN = new RegExp(NO_SUCH_JOB, 'i');

/** Whether SageMaker refused a description because it has no such job. */
export function isUnknownJob({ name, message }: Error): boolean {
  return UNKNOWN.test(`${name} ${message}`);
}
