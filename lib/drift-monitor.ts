/** A scheduled look at an endpoint's captures: how far inputs and outputs are from a baseline. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseBaseline } from '@sagemaker-tfs/container/captures';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { addFunction } from './add-function.ts';
import type { AnyBucket } from './cdk-types.ts';
import { encryptionKeyOf, formerKeysOf, setEncryptionKey } from './encryption.ts';
import type { IRealtimeEndpoint } from './endpoint/endpoint-base.ts';
import { RealtimeEndpoint } from './realtime-endpoint.ts';
import { DRIFT_CAPTURES, DRIFT_HOURS } from './rules/bounds.ts';
import { scheduleProblem } from './rules/limits.ts';
import { grantReadBelow, grantWriteBelow } from './s3-access.ts';
import { checkInteger, invalidProp, refuseProblem } from './validation.ts';

/** Props of {@link DriftMonitor}. */
export interface DriftMonitorProps {
  /** The endpoint, whose data capture is on. */
  readonly endpoint: IRealtimeEndpoint;
  /** Bucket of its captures; reports go there too, below `drift/`. */
  readonly bucket: AnyBucket;
  /**
   * Prefix of the captures.
   * @default 'data-capture/'
   */
  readonly prefix?: string;
  /**
   * Key that the captures are under.
   * @default - that of the endpoint's data capture, if it is made in this app, and of the bucket
   */
  readonly captureKey?: IKey;
  /**
   * Names of the variants whose captures it looks at.
   * @default - those that answer callers, so not a shadow; all of an endpoint that exists already
   */
  readonly variants?: readonly string[];
  /** File that `sagemaker-tfs captures baseline` wrote. */
  readonly baseline: string;
  /**
   * When it looks: `rate(...)` or `cron(...)` of EventBridge.
   * @default 'rate(1 day)'
   */
  readonly schedule?: string;
  /**
   * Hours back that it looks, 1-720.
   * @default 24
   */
  readonly hours?: number;
  /**
   * Captures that it reads at most.
   * @default 5000
   */
  readonly maxCaptures?: number;
  /**
   * Population stability index that counts as drift, above 0.
   * @default 0.2
   */
  readonly threshold?: number;
  /**
   * Receives messages about the alarm.
   * @default - nobody
   */
  readonly alarmTopic?: ITopic;
  /**
   * Key of the function's logs.
   * @default - the key of the stack, or of the endpoint, or AWS's own key
   */
  readonly encryptionKey?: IKey;
}

/** Namespace of its metrics. */
const NAMESPACE = 'SageMakerTensorFlow/Drift';
const DESCRIPTION = 'Compares captured requests and answers with a baseline';

/**
 * A function that reads the captures of the last hours on a schedule, computes the population stability of each input and
 * output, writes a report to S3 and metrics to CloudWatch, and alarms for when a
 * feature has drifted, nothing is captured, or it could not look.
 */
export class DriftMonitor extends Construct {
  /** Features that have drifted, or no longer come. */
  readonly metric: Metric;
  /** Some feature has drifted. */
  readonly alarm: Alarm;
  /**
   * The last look found no capture: nobody asks, or capture has stopped, as it does when a disk fills.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html
   */
  readonly capturesAlarm: Alarm;
  /** The last look failed, or ran out of time. */
  readonly failureAlarm: Alarm;
  /**
   * Looks have stopped: the rule is off, or the function is throttled. Its state is then INSUFFICIENT_DATA, which it mails.
   * Undefined while the endpoint is switched off, beyond `rate(6 days)`, and for a `cron` that is not for every day.
   */
  readonly silenceAlarm: Alarm | undefined;

  constructor(scope: Construct, id: string, props: DriftMonitorProps) {
    super(scope, id);
    const key = props.encryptionKey ?? encryptionKeyOf(this) ?? encryptionKeyOf(props.endpoint);
    setEncryptionKey(this, key);
    const { schedule = 'rate(1 day)', hours = 24, maxCaptures = 5000, threshold = 0.2 } = props;
    checkBaseline(this, props.baseline);
    refuseProblem(this, 'schedule', scheduleProblem(schedule));
    checkInteger(this, 'hours', hours, ...DRIFT_HOURS);
    checkInteger(this, 'maxCaptures', maxCaptures, ...DRIFT_CAPTURES);
    if (!(threshold > 0)) invalidProp(this, 'threshold', `it is ${threshold}`, 'Give one above 0');
    const { endpointName } = props.endpoint;
    const looks = this.addFunction(props, schedule, {
      ENDPOINT_NAME: endpointName,
      VARIANTS: variantsOf(this, props).join(),
      NAMESPACE,
      ...{ HOURS: `${hours}`, MAX_CAPTURES: `${maxCaptures}`, THRESHOLD: `${threshold}` },
    });
    const period = Duration.hours(1);
    const metric = (metricName: string) =>
      new Metric({
        namespace: NAMESPACE,
        metricName,
        dimensionsMap: { EndpointName: endpointName },
        statistic: 'Maximum',
        period,
      });
    this.metric = metric('DriftedFeatures');
    // Until the next look an alarm stays what it is.
    const evaluation = { evaluationPeriods: 1, treatMissingData: TreatMissingData.IGNORE };
    this.alarm = new Alarm(this, 'Alarm', {
      alarmDescription: `Inputs or outputs of ${endpointName} are no longer those of the baseline`,
      metric: this.metric,
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      ...evaluation,
    });
    this.capturesAlarm = new Alarm(this, 'NoCaptures', {
      alarmDescription: `No request of ${endpointName} was captured: nobody asks, or capture has stopped`,
      metric: metric('Captures'),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      ...evaluation,
    });
    this.failureAlarm = new Alarm(this, 'Failed', {
      alarmDescription: `Captures of ${endpointName} could not be compared with the baseline`,
      metric: looks.metricErrors({ period }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      ...evaluation,
    });
    this.silenceAlarm = isEnabled(props.endpoint) ? this.addSilence(looks, schedule) : undefined;
    if (!props.alarmTopic) return;
    const action = new SnsAction(props.alarmTopic);
    for (const alarm of [this.alarm, this.capturesAlarm, this.failureAlarm]) {
      alarm.addAlarmAction(action);
    }
    this.silenceAlarm?.addInsufficientDataAction(action);
  }

  private addSilence(looks: IFunction, schedule: string): Alarm | undefined {
    const wait = hoursBetween(schedule);
    if (wait === undefined) return undefined;
    return new Alarm(this, 'Silent', {
      alarmDescription: `Captures are no longer compared with the baseline: ${looks.functionName} is not called`,
      metric: looks.metricInvocations({ period: Duration.hours(1), statistic: 'Sum' }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: wait + 1,
      // An alarm that counts what is missing as breaching would go off before the first look.
      treatMissingData: TreatMissingData.MISSING,
    });
  }

  private addFunction(
    { endpoint, bucket, prefix = 'data-capture/', baseline, captureKey }: DriftMonitorProps,
    schedule: string,
    settings: Readonly<Record<string, string>>,
  ): IFunction {
    const captures = `${prefix.replace(/(?<=[^/])$/, '/')}${endpoint.endpointName}/`;
    const reports = `drift/${endpoint.endpointName}/`;
    const file = new Asset(this, 'Baseline', { path: baseline });
    const { handler, role } = addFunction(this, 'drift', {
      description: DESCRIPTION,
      memorySize: 2048,
      timeout: Duration.minutes(15),
      environment: {
        ...settings,
        BASELINE_BUCKET: file.s3BucketName,
        BASELINE_KEY: file.s3ObjectKey,
        CAPTURES_BUCKET: bucket.bucketName,
        CAPTURES_PREFIX: captures,
        REPORT_PREFIX: reports,
      },
    });
    // `grantRead` would add leave to list the bucket of every asset.
    const baselines = [file.bucket.arnForObjects(file.s3ObjectKey)];
    Grant.addToPrincipal({ grantee: role, actions: ['s3:GetObject'], resourceArns: baselines });
    grantReadBelow(role, bucket, captures);
    const made = endpoint instanceof RealtimeEndpoint ? endpoint : undefined;
    (captureKey ?? made?.captureKey)?.grantDecrypt(role);
    for (const key of formerKeysOf(made ?? this)) key.grantDecrypt(role);
    grantWriteBelow(role, bucket, reports, ['s3:PutObject']);
    new Rule(this, 'Rule', {
      description: DESCRIPTION,
      enabled: isEnabled(endpoint),
      schedule: Schedule.expression(schedule),
      targets: [new LambdaFunction(handler)],
    });
    return handler;
  }
}

/** Names of the variants to look at; none for all. @throws if the endpoint has no such variant */
function variantsOf(scope: Construct, { endpoint, variants }: DriftMonitorProps): string[] {
  if (!(endpoint instanceof RealtimeEndpoint)) return [...(variants ?? [])];
  const { shadowVariant } = endpoint;
  const production = endpoint.variants.map(({ name }) => name);
  const all = [...production, ...(shadowVariant ? [shadowVariant.name] : [])];
  const unknown = variants?.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    invalidProp(
      scope,
      'variants',
      `the endpoint has no variant ${unknown}`,
      `Name some of ${all.join(', ')}`,
    );
  }
  return [...(variants ?? production)];
}

/** An alarm looks back 7 days at most: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html */
const MAX_WAIT_HOURS = 7 * 24 - 1;
const HOURS_OF = { minute: 1 / 60, hour: 1, day: 24 } as const;

/** Whole hours within which the next look comes; undefined if an alarm cannot wait that long, or it is hard to say. */
function hoursBetween(schedule: string): number | undefined {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule) ?? [];
  const isDaily = /^cron\(\S+ \S+ (\* \* \?|\? \* \*) \*\)$/.test(schedule);
  const hours = unit ? Math.ceil(Number(count) * HOURS_OF[unit as keyof typeof HOURS_OF]) : 24;
  return (unit || isDaily) && hours <= MAX_WAIT_HOURS ? hours : undefined;
}

/** Whether the endpoint is there: one that is switched off has no captures to look for. */
function isEnabled(endpoint: IRealtimeEndpoint): boolean {
  return !('enabled' in endpoint) || endpoint.enabled === true;
}

/** Refuses a file that is no baseline. @param prop that names the file */
export function checkBaseline(scope: Construct, file: string, prop = 'baseline'): void {
  const fix = 'Write one with sagemaker-tfs captures baseline';
  if (!existsSync(file)) invalidProp(scope, prop, `${resolve(file)} does not exist`, fix);
  try {
    parseBaseline(readFileSync(file, 'utf8'));
  } catch {
    invalidProp(scope, prop, `${resolve(file)} is no baseline`, fix);
  }
}
