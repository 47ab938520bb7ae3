/** A dashboard and alarms for an endpoint. */
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  type IAlarm,
  type PromQLAlarm,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { allowPublisher } from './encryption.ts';
import type { BoundVariant } from './endpoint/variant.ts';
import { type AlarmThresholds, queueAlarm, variantAlarms } from './monitoring/alarms.ts';
import { detailedAlarms } from './monitoring/detailed-alarms.ts';
import { queueRow, type VariantHardware, variantRow } from './monitoring/widgets.ts';
import type { RealtimeEndpoint } from './realtime-endpoint.ts';

/** Props of {@link EndpointMonitoring}. */
export interface EndpointMonitoringProps {
  /** The endpoint to watch. */
  readonly endpoint: RealtimeEndpoint;
  /**
   * Topic for alarms that change to ALARM and back. Alarms may use the key of a topic if both are made in this
   * app; a key from outside must let `cloudwatch.amazonaws.com` do kms:Decrypt and kms:GenerateDataKey*: a warning says so.
   * @default - no notification
   */
  readonly alarmTopic?: ITopic;
  /**
   * When alarms sound.
   * @default - the defaults of {@link AlarmThresholds}
   */
  readonly thresholds?: AlarmThresholds;
  /**
   * Name of the dashboard: letters, digits, - and _, 255 at most.
   * @default - CloudFormation's
   */
  readonly dashboardName?: string;
}

/** One dashboard row and a set of alarms for each variant. */
export class EndpointMonitoring extends Construct {
  readonly dashboard: Dashboard;
  readonly alarms: readonly Alarm[];
  /**
   * Alarms over the runtime's own metrics: an instance whose models cannot be called, and processes that crash. Empty
   * unless the endpoint's `metricsConfig` says `detailed: true`.
   */
  readonly detailedAlarms: readonly PromQLAlarm[];

  constructor(scope: Construct, id: string, props: EndpointMonitoringProps) {
    super(scope, id);
    const { endpoint, thresholds = {}, alarmTopic } = props;
    const variants = [
      ...endpoint.variants,
      ...(endpoint.shadowVariant ? [endpoint.shadowVariant] : []),
    ];
    this.dashboard = new Dashboard(this, 'Dashboard', {
      ...(props.dashboardName !== undefined && { dashboardName: props.dashboardName }),
    });
    for (const variant of variants) {
      const row = variantRow(
        variant.name,
        endpoint.variantMetrics(variant.name),
        hardwareOf(variant),
        endpoint.isAsync,
      );
      this.dashboard.addWidgets(...row.slice(0, 1));
      this.dashboard.addWidgets(...row.slice(1));
    }
    if (endpoint.isAsync) {
      const [heading, ...graphs] = queueRow(endpoint.queueMetrics());
      if (heading) this.dashboard.addWidgets(heading);
      this.dashboard.addWidgets(...graphs);
    }
    const alarms = endpoint.variants.flatMap((variant) =>
      variantAlarms(
        new Construct(this, variant.name),
        variant.name,
        endpoint.variantMetrics(variant.name),
        thresholds,
        {
          watchesResources: mayRunOut(variant),
          isAsync: endpoint.isAsync,
          capturesData: endpoint.capturesData,
          periods: endpoint.metricPeriods,
        },
      ),
    );
    if (endpoint.isAsync) alarms.push(queueAlarm(this, endpoint.queueMetrics(), thresholds));
    this.alarms = alarms;
    this.detailedAlarms = endpoint.detailedMetrics
      ? variants.flatMap(({ name }) =>
          detailedAlarms(new Construct(this, `Runtime${name}`), endpoint.endpointName, name),
        )
      : [];
    this.showStates([...this.alarms, ...this.detailedAlarms]);
    if (!alarmTopic) return;
    allowPublisher(this, alarmTopic, 'cloudwatch.amazonaws.com');
    const action = new SnsAction(alarmTopic);
    for (const alarm of [...this.alarms, ...this.detailedAlarms]) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }

  /** Graphs show no metrics of PromQL, so the states of alarms stand beside them. */
  private showStates(alarms: readonly IAlarm[]): void {
    if (this.detailedAlarms.length === 0) return;
    this.dashboard.addWidgets(
      new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 24, height: 3 }),
    );
  }
}

/**
 * Whether full memory or a full disk is a fault. With multi-model data both fill up: models are unloaded, and deleted from the
 * disk, only when another needs the room.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-caching.html
 */
function mayRunOut({ props: { serverless, model } }: BoundVariant): boolean {
  return !serverless && !model.data.multiModel;
}

function hardwareOf({ props }: BoundVariant): VariantHardware {
  return props.serverless ? 'serverless' : props.model.image.platform.accelerator;
}
