/** A scheduled look at an endpoint's captures: how far inputs and outputs are from a baseline. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseBaseline } from '@sagemaker-tfs/container/captures';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { addFunction } from './add-function.ts';
import type { AnyBucket } from './cdk-types.ts';
import type { IRealtimeEndpoint } from './endpoint/endpoint-base.ts';
import { DRIFT_CAPTURES, DRIFT_HOURS } from './rules/bounds.ts';
import { scheduleProblem } from './rules/limits.ts';
import { grantReadBelow, grantWriteBelow } from './s3-access.ts';
import { checkInteger, invalidProp, refuseProblem } from './validation.ts';

/** Props of {@link DriftMonitor}. */
export interface DriftMonitorProps {
  /** The endpoint, whose data capture is on. */
  readonly endpoint: IRealtimeEndpoint;
  /** Bucket of its captures, where reports go too, below `drift/`. */
  readonly bucket: AnyBucket;
  /**
   * Prefix of the captures.
   * @default 'data-capture/'
   */
  readonly prefix?: string;
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
}

/** Namespace of its metrics. */
const NAMESPACE = 'SageMakerTensorFlow/Drift';
const DESCRIPTION = 'Compares captured requests and answers with a baseline';

/**
 * A function that reads the captures of the last hours on a schedule, computes the population stability of each input and
 * output, writes a report to S3 and metrics to CloudWatch, and an alarm for when a feature has drifted.
 */
export class DriftMonitor extends Construct {
  /** Features that have drifted. */
  readonly metric: Metric;
  readonly alarm: Alarm;

  constructor(scope: Construct, id: string, props: DriftMonitorProps) {
    super(scope, id);
    const { schedule = 'rate(1 day)', hours = 24, maxCaptures = 5000, threshold = 0.2 } = props;
    checkBaseline(this, props.baseline);
    refuseProblem(this, 'schedule', scheduleProblem(schedule));
    checkInteger(this, 'hours', hours, ...DRIFT_HOURS);
    checkInteger(this, 'maxCaptures', maxCaptures, ...DRIFT_CAPTURES);
    if (!(threshold > 0)) invalidProp(this, 'threshold', `it is ${threshold}`, 'Give one above 0');
    const { endpointName } = props.endpoint;
    this.addFunction(props, schedule, {
      ENDPOINT_NAME: endpointName,
      NAMESPACE,
      ...{ HOURS: `${hours}`, MAX_CAPTURES: `${maxCaptures}`, THRESHOLD: `${threshold}` },
    });
    this.metric = new Metric({
      namespace: NAMESPACE,
      metricName: 'DriftedFeatures',
      dimensionsMap: { EndpointName: endpointName },
      statistic: 'Maximum',
      period: Duration.hours(1),
    });
    this.alarm = new Alarm(this, 'Alarm', {
      alarmDescription: `Inputs or outputs of ${endpointName} are no longer those of the baseline`,
      metric: this.metric,
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      // Until the next look it stays what it is.
      treatMissingData: TreatMissingData.IGNORE,
    });
    if (props.alarmTopic) this.alarm.addAlarmAction(new SnsAction(props.alarmTopic));
  }

  private addFunction(
    { endpoint, bucket, prefix = 'data-capture/', baseline }: DriftMonitorProps,
    schedule: string,
    settings: Readonly<Record<string, string>>,
  ): void {
    const captures = `${prefix}${endpoint.endpointName}/`;
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
    file.bucket.grantRead(role, file.s3ObjectKey);
    grantReadBelow(role, bucket, captures);
    grantWriteBelow(role, bucket, reports, ['s3:PutObject']);
    new Rule(this, 'Rule', {
      description: DESCRIPTION,
      schedule: Schedule.expression(schedule),
      targets: [new LambdaFunction(handler)],
    });
  }
}

function checkBaseline(scope: Construct, file: string): void {
  const fix = 'Write one with sagemaker-tfs captures baseline';
  if (!existsSync(file)) invalidProp(scope, 'baseline', `${resolve(file)} does not exist`, fix);
  try {
    parseBaseline(readFileSync(file, 'utf8'));
  } catch {
    invalidProp(scope, 'baseline', `${resolve(file)} is no baseline`, fix);
  }
}
