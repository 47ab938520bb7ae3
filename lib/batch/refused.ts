/**
 * What follows when a job was refused or failed: the same again after a pause, the next instance type, or the
 * end. Step Functions tells SageMaker's throttling and its refusals by one name (`SageMaker.SageMakerException`,
 * in the optimized integration `SageMaker.AmazonSageMakerException`), so the text decides.
 */

/** Pauses, and how often they are made before a job is given up. */
const WAITS = {
  throttledSeconds: 15,
  /** Too many calls, or none that is answered: one pause each. */
  maxThrottled: 100,
  /** The same after a wait of a shard, which may have many: a pause has 13 events, and an execution at most 25,000. */
  maxThrottledLater: 20,
  quotaSeconds: 300,
  /** Times that all types are tried again where others' jobs fill a quota. */
  maxRounds: 20,
} as const;

/** Error of a job that somebody stopped, which says nothing of its inputs. */
export const JOB_STOPPED = 'TransformJobStopped';

/** Of CreateTransformJob: it passes. */
const PASSING =
  '/rate exceeded|throttl|too many requests|service ?unavailable|internal ?(server ?)?(failure|error)/i';
/**
 * Of the name and text of an error: a call that had no answer, from Step Functions' own client of AWS.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html
 */
export const NO_ANSWER =
  '/SdkClientException|ClientExecutionTimeout|States\\.Timeout|unable to execute http request|connection (reset|refused|closed|timed out)|connect timed out|read timed out|broken pipe|unknown ?host/i';
/**
 * Of CreateTransformJob: the call before it had no answer, but made the job.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html
 */
const MADE_BEFORE = '/ResourceInUse|job name must be unique/i';
/** Of a job's FailureReason, and of CreateTransformJob: no such instances now. */
const NO_CAPACITY = '/capacity ?error|insufficient ?(instance ?)?capacity|unable to provision/i';
/** Of CreateTransformJob: a quota that is too small even while nothing runs. */
const NO_QUOTA = '/(is|utilization of) 0 instances/i';
/** Of CreateTransformJob: this type is not offered. */
const NO_SUCH_TYPE = '/instance ?type/i';

/**
 * JSONata that returns `{next, reasons, ...}` to merge into the job: `next` is `now`, `later`, `look` or `fail`.
 * @param settings JSONata of the settings
 * @param name JSONata of the job's name
 */
export function nextTry(settings: string, name: string): string {
  return `(
    $job := $states.input.job;
    $s := ${settings};
    $more := $job.type < $count($s.fallbacks);
    $name := $job.type = 0 ? $s.instanceType : $s.fallbacks[$job.type - 1].instanceType;
    $created := $job.error in ["TransformJobFailed", "${JOB_STOPPED}"];
    $silent := $not($created) and $contains($job.error & " " & $job.reason, ${NO_ANSWER});
    $passing := $silent or ($not($created) and $contains($job.reason, ${PASSING}));
    $before := $not($created) and $contains($job.error & " " & $job.reason, ${MADE_BEFORE});
    $made := $created ? $job.made + 1 : $job.made;
    $full := $not($created) and $contains($job.error, "ResourceLimitExceeded") and $not($contains($job.reason, ${NO_QUOTA}));
    $type := $full or $contains($job.reason, ${NO_CAPACITY})
      or ($not($created) and ($contains($job.reason, ${NO_QUOTA}) or $contains($job.reason, ${NO_SUCH_TYPE})));
    $reason := $type and ($more or $job.type > 0) ? $name & ": " & $job.reason : $job.reason;
    $reasons := $append($job.reasons, [$reason]);
    $waits := $full or $job.full;
    $waited := $exists($states.input.waits) and $states.input.waits > 0;
    $merge([{ "made": $made }, $before
      ? { "next": "look", "name": ${name}, "looks": 0 }
      : $passing and $job.pauses < ($waited ? ${WAITS.maxThrottledLater} : ${WAITS.maxThrottled})
      ? { "next": "later", "seconds": ${WAITS.throttledSeconds}, "pauses": $job.pauses + 1 }
      : $type and $more
        ? { "next": "now", "type": $job.type + 1, "full": $waits, "reasons": [$reasons] }
        : $type and $waits and $job.round < ${WAITS.maxRounds}
          ? { "next": "later", "seconds": ${WAITS.quotaSeconds}, "type": 0, "round": $job.round + 1, "full": false, "reasons": [] }
          : { "next": "fail", "reasons": [$reasons] }
    ])
  )`;
}
