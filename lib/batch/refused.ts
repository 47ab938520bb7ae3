/**
 * What follows when a job was refused or failed: the same again after a pause, the next instance type, or the
 * end. Step Functions tells SageMaker's throttling and its refusals by one name (`SageMaker.SageMakerException`,
 * in the optimized integration `SageMaker.AmazonSageMakerException`), so the text decides.
 */

/** Pauses, and how often they are made before a job is given up. */
export const WAITS = {
  throttledSeconds: 15,
  /** Too many calls, one pause each. */
  maxThrottled: 100,
  quotaSeconds: 300,
  /** Times that all types are tried again where others' jobs fill a quota. */
  maxRounds: 20,
} as const;

/** Of CreateTransformJob: it passes. */
const PASSING =
  '/rate exceeded|throttl|too many requests|service ?unavailable|internal ?(server ?)?(failure|error)/i';
/** Of a job's FailureReason, and of CreateTransformJob: no such instances now. */
const NO_CAPACITY = '/capacity ?error|insufficient ?(instance ?)?capacity|unable to provision/i';
/** Of CreateTransformJob: a quota that is too small even while nothing runs. */
const NO_QUOTA = '/(is|utilization of) 0 instances/i';
/** Of CreateTransformJob: this type is not offered. */
const NO_SUCH_TYPE = '/instance ?type/i';

/**
 * JSONata that returns `{next, reasons, ...}` to merge into the job: `next` is `now`, `later` or `fail`.
 * @param settings JSONata of the settings
 */
export function nextTry(settings: string): string {
  return `(
    $job := $states.input.job;
    $s := ${settings};
    $more := $job.type < $count($s.fallbacks);
    $name := $job.type = 0 ? $s.instanceType : $s.fallbacks[$job.type - 1].instanceType;
    $created := $job.error = "TransformJobFailed";
    $passing := $not($created) and $contains($job.reason, ${PASSING});
    $full := $not($created) and $contains($job.error, "ResourceLimitExceeded") and $not($contains($job.reason, ${NO_QUOTA}));
    $type := $full or $contains($job.reason, ${NO_CAPACITY})
      or ($not($created) and ($contains($job.reason, ${NO_QUOTA}) or $contains($job.reason, ${NO_SUCH_TYPE})));
    $reason := $type and ($more or $job.type > 0) ? $name & ": " & $job.reason : $job.reason;
    $reasons := $append($job.reasons, [$reason]);
    $waits := $full or $job.full;
    $passing and $job.pauses < ${WAITS.maxThrottled}
      ? { "next": "later", "seconds": ${WAITS.throttledSeconds}, "pauses": $job.pauses + 1 }
      : $type and $more
        ? { "next": "now", "type": $job.type + 1, "full": $waits, "reasons": [$reasons] }
        : $type and $waits and $job.round < ${WAITS.maxRounds}
          ? { "next": "later", "seconds": ${WAITS.quotaSeconds}, "type": 0, "round": $job.round + 1, "full": false, "reasons": [] }
          : { "next": "fail", "reasons": [$reasons] }
  )`;
}
