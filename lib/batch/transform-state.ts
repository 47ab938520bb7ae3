/**
 * The states that run one transform job to its end: create, look, and continue with the next instance type where
 * one cannot be had. Calls of the API itself, not Step Functions' own `createTransformJob.sync`: that one
 * refuses fields that it does not know ('The field ... is not supported by Step Functions'), nothing says that
 * it knows TransformAmiVersion, and GPU jobs rest on it.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
 */

import { jobNameJsonata, LASTING_FAULT, NO_CAPACITY, SERVICE_FAULT } from '@sagemaker-tfs/batch';
import { LOCAL_STORAGE_FAMILIES } from '@sagemaker-tfs/batch/instance-types';
import { jsonata, literal } from './jsonata.ts';
import { JOB_STOPPED, NO_ANSWER, nextTry } from './refused.ts';
import { statesArn } from './states-arn.ts';

/** Fixed for every job of a construct, and so not a setting. */
export interface FixedJobProps {
  readonly modelName: string;
  /** Start of job names; SageMaker's names are at most 63 characters. */
  readonly jobNamePrefix: string;
  readonly outputKeyArn?: string;
  readonly volumeKeyArn?: string;
  readonly tags: Readonly<Record<string, string>>;
}

const CREATE = statesArn('aws-sdk:sagemaker:createTransformJob');
const DESCRIBE = statesArn('aws-sdk:sagemaker:describeTransformJob');

/**
 * JSONata of the job's name, which is the same when a call is made again: its answer may have been lost after the job
 * was made, and SageMaker then says that the name is taken instead of making a second one. Shards, executions of their
 * own, have that of the run in their input: whoever stops it stops their jobs as well, and those of no other execution.
 */
function jobName(state: string, { jobNamePrefix }: FixedJobProps, settings: string): string {
  return `(
    $execution := $states.context.Execution;
    $job := $states.input.job;
    $try := $exists($job) ? [$job.made, $job.round, $job.type] : [0, 0, 0];
    $run := $exists($states.input.execution) ? $states.input.execution : $execution.Id;
    $call := $join([$execution.Id, $string($execution.RedriveCount), $states.input.shard, ${literal(state)}, $string($states.input.waits), $string($try)], " ");
    ${jobNameJsonata(jobNamePrefix, `(${settings}).runId`, '$run', '$call')}
  )`;
}

/** Arguments of CreateTransformJob; `$s` are the settings, `$input` the S3 data source. */
function jobArguments(fixed: FixedJobProps, settings: string, source: string, name: string) {
  const tags = Object.entries(fixed.tags).map(([Key, Value]) => ({ Key, Value }));
  const outputKey = fixed.outputKeyArn ? `, "KmsKeyId": ${literal(fixed.outputKeyArn)}` : '';
  // SageMaker accepts no key for disks that come with the instance.
  const volumeKey = fixed.volumeKeyArn
    ? `, "VolumeKmsKeyId": $split($type.instanceType, ".")[1] in ${literal([...LOCAL_STORAGE_FAMILIES])} ? "" : ${literal(fixed.volumeKeyArn)}`
    : '';
  return `(
    $s := ${settings};
    $filled := function($object) { $sift($object, function($value) { $value != "" }) };
    $at := $exists($states.input.job) ? $states.input.job.type : 0;
    $type := $at = 0 ? $s : $s.fallbacks[$at - 1];
    {
      "TransformJobName": ${name},
      "ModelName": ${JSON.stringify(fixed.modelName)},
      "BatchStrategy": $s.batchStrategy,
      "MaxConcurrentTransforms": $s.maxConcurrentTransforms,
      "MaxPayloadInMB": $s.maxPayloadInMB,
      "Environment": $s.environment,
      "ModelClientConfig": {
        "InvocationsTimeoutInSeconds": $s.invocationsTimeoutInSeconds,
        "InvocationsMaxRetries": $s.invocationsMaxRetries
      },
      "TransformInput": {
        "ContentType": $s.contentType,
        "CompressionType": $s.compressionType,
        "SplitType": $s.splitType,
        "DataSource": { "S3DataSource": ${source} }
      },
      "TransformOutput": {
        "S3OutputPath": $s.outputUri,
        "Accept": $s.accept,
        "AssembleWith": $s.assembleWith${outputKey}
      },
      "TransformResources": $filled({
        "InstanceType": $type.instanceType,
        "InstanceCount": $s.instanceCount,
        "TransformAmiVersion": $type.transformAmiVersion${volumeKey}
      }),
      "DataProcessing": {
        "InputFilter": $s.inputFilter,
        "OutputFilter": $s.outputFilter,
        "JoinSource": $s.joinSource
      },
      "Tags": ${JSON.stringify(tags)}
    }
  )`;
}

/** JSONata of the input with `fields` merged into what is known of the job. */
function withJob(fields: string): string {
  return jsonata(`(
    $fresh := { "type": 0, "round": 0, "pauses": 0, "full": false, "looks": 0, "made": 0, "reasons": [], "redrive": $states.context.Execution.RedriveCount };
    $job := $exists($states.input.job) ? $states.input.job : $fresh;
    $merge([$states.input, { "job": $merge([$job, ${fields}]) }])
  )`);
}

/**
 * Seconds to the next look: soon at the start, and rarely in a job of days, whose execution may have 25,000
 * events.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
 */
const NEXT_LOOK =
  '($n := $states.input.job.looks; $n < 10 ? 30 : $n < 100 ? 60 : $n < 500 ? 300 : 600)';

/** JSONata of why the job failed, for `transitions`. */
export const FAILURE_REASON = '$join($states.input.job.reasons, "; ")';
/**
 * JSONata of what kind of failure it was, for `transitions`:
 * - `capacity`: no instance is to be had now
 * - `internal`: SageMaker's own fault, or the network's
 * - `lasting`: every other job would fail as well, such as when the container never answers `/ping`
 * - `stopped`: somebody has stopped the job
 * - `data`: some input was refused
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTransformJob.html
 */
export const FAILURE_CLASS = `(
  $job := $states.input.job;
  $matches := function($pattern) { $contains($job.error & " " & $job.reason, $pattern) };
  $job.error = "${JOB_STOPPED}" ? "stopped"
  : $matches(/(is|utilization of) 0 instances/i) ? "lasting"
  : $matches(/${NO_CAPACITY}/i) ? "capacity"
  : $matches(/${SERVICE_FAULT}/i) or $matches(${NO_ANSWER}) ? "internal"
  : $job.error != "TransformJobFailed" ? "lasting"
  : $matches(/${LASTING_FAULT}/i) ? "lasting"
  : "data"
)`;

/** JSONata of the part of the job's description that says what it cost, for `transitions`. */
export const JOB_SPENT = '$states.input.job.spent';

/** JSONata of the job's name. */
export const JOB_NAME = '$states.input.job.name';

/** Where the states go at the end; the outputs are JSONata over the input, with `job` in it. */
interface TransformTransitions {
  readonly Output: string;
  readonly Next: string;
  readonly onError: { readonly Output: string; readonly Next: string };
  /**
   * Where an execution goes that was stopped and redriven, before it makes another job: its own was stopped with it, and
   * another run may have these outputs by now.
   */
  readonly onRedrive: { readonly Output: string; readonly Next: string };
}

/**
 * JSONata of whether a job must not be made before a look at the lease. A redriven execution continues in the state that
 * it was stopped in, with the same input.
 * @see https://docs.aws.amazon.com/step-functions/latest/apireference/API_RedriveExecution.html
 */
const REDRIVEN = `(
  $job := $states.input.job;
  $job.redrive != $states.context.Execution.RedriveCount
    and ($job.next in ["now", "later"] or $job.error = "${JOB_STOPPED}")
)`;

/** JSONata of the job's status at the last look. */
const JOB_STATUS = '$states.input.job.status';

/** JSONata of what a call has failed with. */
const CAUGHT = '{ "error": $states.errorOutput.Error, "reason": $states.errorOutput.Cause }';

/** Describes the job. @param next the states after a look, and after one that has failed */
function lookState(next: { readonly Next: string; readonly Catch: object }) {
  return {
    Type: 'Task',
    Resource: DESCRIBE,
    Arguments: { TransformJobName: jsonata(JOB_NAME) },
    Retry: [
      {
        ErrorEquals: ['States.TaskFailed', 'States.Timeout'],
        IntervalSeconds: 10,
        BackoffRate: 2,
        MaxDelaySeconds: 300,
        MaxAttempts: 20,
        JitterStrategy: 'FULL',
      },
    ],
    Catch: next.Catch,
    Output: withJob(`{
        "looks": $states.input.job.looks + 1,
        "status": $states.result.TransformJobStatus,
        "spent": $sift($states.result, function($v, $k) { $k in ["TransformJobName", "TransformStartTime", "TransformEndTime", "TransformResources"] }),
        "error": $states.result.TransformJobStatus = "Stopped" ? "${JOB_STOPPED}" : "TransformJobFailed",
        "reason": $states.result.TransformJobStatus = "Stopped" ? "the job " & ${JOB_NAME} & " was stopped"
          : $exists($states.result.FailureReason) ? $states.result.FailureReason : "the job is " & $states.result.TransformJobStatus
      }`),
    Next: next.Next,
  };
}

/**
 * Runs a job over a data source and waits for it.
 * @param name of the first state, and start of the others' names
 * @param settings JSONata of the settings
 * @param source JSONata of `{S3DataType, S3Uri}`
 */
export function transformStates(
  name: string,
  fixed: FixedJobProps,
  settings: string,
  source: string,
  transitions: TransformTransitions,
) {
  const job = jobName(name, fixed, settings);
  const look = `${name}: look`;
  const wait = `${name}: wait`;
  const ended = `${name}: ended?`;
  const refused = `${name}: refused`;
  const again = `${name}: again?`;
  const pause = `${name}: pause`;
  const caught = [{ ErrorEquals: ['States.ALL'], Output: withJob(CAUGHT), Next: refused }];
  return {
    [name]: {
      Type: 'Task',
      Resource: CREATE,
      Arguments: jsonata(jobArguments(fixed, settings, source, job)),
      Catch: caught,
      Output: withJob(
        '{ "name": $substringAfter($states.result.TransformJobArn, "transform-job/"), "looks": 0 }',
      ),
      Next: wait,
    },
    [wait]: { Type: 'Wait', Seconds: jsonata(NEXT_LOOK), Next: look },
    [look]: lookState({ Catch: caught, Next: ended }),
    [ended]: {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata(`${JOB_STATUS} = "Completed"`),
          Output: transitions.Output,
          Next: transitions.Next,
        },
        { Condition: jsonata(`${JOB_STATUS} in ["InProgress", "Stopping"]`), Next: wait },
      ],
      Default: refused,
    },
    [refused]: { Type: 'Pass', Output: withJob(nextTry(settings, job)), Next: again },
    [again]: {
      Type: 'Choice',
      Choices: [
        { Condition: jsonata(REDRIVEN), ...transitions.onRedrive },
        { Condition: jsonata('$states.input.job.next = "now"'), Next: name },
        { Condition: jsonata('$states.input.job.next = "later"'), Next: pause },
        { Condition: jsonata('$states.input.job.next = "look"'), Next: wait },
        { Condition: jsonata('true'), ...transitions.onError },
      ],
    },
    [pause]: {
      Type: 'Wait',
      // Spread, so that many shards do not ask at once.
      Seconds: jsonata('$floor((1 + $random()) * $states.input.job.seconds)'),
      Output: withJob('{ "next": "now" }'),
      Next: again,
    },
  };
}
