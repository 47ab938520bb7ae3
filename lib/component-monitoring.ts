/** A dashboard and alarms for an endpoint of inference components. */
import { type Alarm, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { ComponentEndpoint } from './component-endpoint.ts';
import { allowPublisher } from './encryption.ts';
import { type AlarmThresholds, componentAlarms } from './monitoring/alarms.ts';
import { componentRow } from './monitoring/widgets.ts';

/** Props of {@link ComponentMonitoring}. */
export interface ComponentMonitoringProps {
  /** The endpoint to watch. */
  readonly endpoint: ComponentEndpoint;
  /**
   * Topic for alarms that change to ALARM and back. A key from outside must let `cloudwatch.amazonaws.com` use it.
   * @default - no notification
   */
  readonly alarmTopic?: ITopic;
  /**
   * When alarms sound. Those of memory, disk and queues are for other endpoints.
   * @default - the defaults of {@link AlarmThresholds}
   */
  readonly thresholds?: AlarmThresholds;
}

/** One dashboard row and a set of alarms for each component. A component that sleeps sounds no alarm. */
export class ComponentMonitoring extends Construct {
  readonly dashboard: Dashboard;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: ComponentMonitoringProps) {
    super(scope, id);
    const { endpoint, thresholds = {}, alarmTopic } = props;
    this.dashboard = new Dashboard(this, 'Dashboard');
    this.alarms = endpoint.components.flatMap(({ name, props: component }) => {
      const metrics = endpoint.componentMetrics(name);
      const hasGpu = component.model.image.platform.accelerator === 'gpu';
      const [heading, ...graphs] = componentRow(name, metrics, hasGpu);
      if (heading) this.dashboard.addWidgets(heading);
      this.dashboard.addWidgets(...graphs);
      return componentAlarms(
        new Construct(this, name),
        name,
        metrics,
        thresholds,
        endpoint.metricPeriods,
      );
    });
    if (!alarmTopic) return;
    allowPublisher(this, alarmTopic, 'cloudwatch.amazonaws.com');
    const action = new SnsAction(alarmTopic);
    for (const alarm of this.alarms) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }
}
