/** Several models as inference components of one endpoint, watched and proven. */
import { Aws, CfnOutput, Duration, Size, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { ComponentEndpoint } from '../component-endpoint.ts';
import { ComponentMonitoring } from '../component-monitoring.ts';
import { componentLogGroup } from '../components/execution-role.ts';
import type { ComponentProps, ComponentUpdateProps } from '../components/props.ts';
import type { ComponentConfig, EndpointConfig } from '../config.ts';
import { definedOnly } from '../defined-only.ts';
import { setEncryptionKeyArn } from '../encryption.ts';
import { plannedVariants } from '../endpoint-variants.ts';
import type { IModel } from '../model.ts';
import { addSmokeTest } from './add-smoke-test.ts';
import { consoleUrl, logsUrl } from './console.ts';
import { emailTopic } from './email-topic.ts';
import { vpcFromConfig } from './model-from-config.ts';
import type { ServingStackProps } from './serving-stack.ts';
import { modelsOfVariants } from './variant-models.ts';

/** The models, their endpoint, dashboard, alarms and smoke test. */
export class ComponentStack extends Stack {
  readonly endpoint: ComponentEndpoint;

  constructor(scope: Construct, id: string, props: ServingStackProps) {
    super(scope, id, props);
    setEncryptionKeyArn(this, props.encryptionKeyArn, props.formerEncryptionKeyArns);
    const { endpoint: config, image, imageOf = () => image, archiveName } = props;
    const network = vpcFromConfig(this, props.vpcConfig);
    const planned = plannedVariants(props.model, config);
    const models = modelsOfVariants(this, planned, { imageOf, network, archiveName });
    const { instanceType, inferenceAmiVersion, deployment, metrics } = config;
    const { minInstances, maxInstances = 1 } = config.managedInstances ?? {};
    this.endpoint = new ComponentEndpoint(this, 'Endpoint', {
      components: (config.components ?? []).map((component, i) =>
        componentProps(models[i] as IModel, component, planned[i]?.endpoint ?? config),
      ),
      instances: {
        maxInstances,
        ...definedOnly({ minInstances, instanceType, inferenceAmiVersion }),
      },
      ...network,
      ...(deployment && { update: updateProps(deployment) }),
      ...(metrics && { metricsConfig: definedOnly(metrics) }),
      ...definedOnly({ logRetention: config.logRetentionDays, enabled: config.enabled }),
    });
    const { endpoint } = this;
    const topic = config.alarmEmail && emailTopic(this, 'Alarms', config.alarmEmail);
    const { dashboard } = new ComponentMonitoring(this, 'Monitoring', {
      endpoint,
      ...(topic && { alarmTopic: topic }),
    });
    if (endpoint.enabled) addSmokeTest(this, endpoint, config, network);
    this.addOutputs(dashboard.dashboardName, config);
  }

  private addOutputs(dashboardName: string, { smokeTest }: EndpointConfig): void {
    const { endpointName, components, enabled } = this.endpoint;
    const console = consoleUrl(this);
    const outputs: Record<string, string> = {
      EndpointName: endpointName,
      EndpointUrl: `${console}/sagemaker/home?region=${Aws.REGION}#/endpoints/${endpointName}`,
      DashboardUrl: `${console}/cloudwatch/home?region=${Aws.REGION}#dashboards:name=${dashboardName}`,
    };
    for (const { name, componentName } of components) {
      const id = name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
      const [sample] = smokeTest.samples.filter(({ component = name }) => component === name);
      outputs[`Component${id}Name`] = componentName;
      outputs[`Component${id}LogsUrl`] = logsUrl(console, componentLogGroup(componentName));
      if (!enabled) continue;
      outputs[`Component${id}InvokeCommand`] =
        `aws sagemaker-runtime invoke-endpoint --endpoint-name ${endpointName} --inference-component-name ${componentName} --content-type ${sample?.contentType ?? 'application/json'} --body fileb://${sample?.file ?? 'FILE'} /dev/stdout`;
    }
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

/** @param endpoint the endpoint with the component's own times in it */
function componentProps(
  model: IModel,
  { name, memoryMiB, cpus, accelerators, copies, scaling }: ComponentConfig,
  endpoint: EndpointConfig,
): ComponentProps {
  const download = endpoint.modelDataDownloadTimeoutSeconds;
  const startup = endpoint.startupTimeoutSeconds;
  return {
    name,
    model,
    ...(memoryMiB !== undefined && { memory: Size.mebibytes(memoryMiB) }),
    ...definedOnly({ cpus, accelerators, copies }),
    ...(scaling && { scaling: definedOnly(scaling) }),
    ...(download !== undefined && { modelDataDownloadTimeout: Duration.seconds(download) }),
    ...(startup !== undefined && { containerStartupHealthCheckTimeout: Duration.seconds(startup) }),
  };
}

function updateProps({
  traffic,
  serverErrorsPerMinute,
}: NonNullable<EndpointConfig['deployment']>): ComponentUpdateProps {
  const { percent = 50, waitSeconds = 0 } = traffic?.type === 'rolling' ? traffic : {};
  return {
    percent,
    wait: Duration.seconds(waitSeconds),
    ...definedOnly({ serverErrorsPerMinute }),
  };
}
