/** What AWS's service models refuse of a template. */
import { asRequest } from './batch-resources.ts';
import type { MatrixTemplate } from './matrix.ts';
import { problemsOf } from './validate.ts';

/** Which operations a resource's properties go to, and what CloudFormation supplies itself. */
export const OPERATIONS: Readonly<Record<string, readonly [string, string, readonly string[]]>> = {
  'AWS::SageMaker::Model': ['sagemaker', 'CreateModel', ['ModelName']],
  'AWS::SageMaker::EndpointConfig': ['sagemaker', 'CreateEndpointConfig', ['EndpointConfigName']],
  'AWS::ApplicationAutoScaling::ScalableTarget': [
    'application-autoscaling',
    'RegisterScalableTarget',
    [],
  ],
  'AWS::CloudWatch::Alarm': ['cloudwatch', 'PutMetricAlarm', ['AlarmName']],
  'AWS::CloudWatch::Dashboard': ['cloudwatch', 'PutDashboard', ['DashboardName']],
};

/** What AWS would refuse of a resource: of its properties, by the operations that they go to. */
export function problemsOfResource({ Type, Properties }: MatrixTemplate[string]): string[] {
  if (Type === 'AWS::SageMaker::Endpoint') {
    // CloudFormation updates with all, and creates without what only an update takes.
    const { Tags, ...update } = Properties;
    const { EndpointName, EndpointConfigName, DeploymentConfig } = Properties;
    const create = {
      EndpointName,
      EndpointConfigName,
      ...(DeploymentConfig ? { DeploymentConfig } : {}),
    };
    return [
      ...problemsOf('sagemaker', 'UpdateEndpoint', update),
      ...problemsOf('sagemaker', 'CreateEndpoint', { ...create, ...(Tags ? { Tags } : {}) }),
    ];
  }
  if (Type === 'AWS::SageMaker::InferenceComponent') {
    // As an endpoint: only an update takes the deployment.
    const { DeploymentConfig, ...create } = Properties;
    const { InferenceComponentName, Specification, RuntimeConfig } = create;
    const update = { InferenceComponentName, Specification, RuntimeConfig };
    return [
      ...problemsOf('sagemaker', 'CreateInferenceComponent', create),
      ...problemsOf('sagemaker', 'UpdateInferenceComponent', {
        ...update,
        ...(DeploymentConfig ? { DeploymentConfig } : {}),
      }),
    ];
  }
  if (Type === 'AWS::ApplicationAutoScaling::ScalingPolicy') {
    const { ScalingTargetId: _, ...policy } = Properties;
    const supplied = ['ServiceNamespace', 'ResourceId', 'ScalableDimension'];
    return problemsOf('application-autoscaling', 'PutScalingPolicy', policy, supplied);
  }
  if (Type === 'AWS::StepFunctions::StateMachine') {
    const { DefinitionString, StateMachineName, ...rest } = Properties;
    const request = asRequest({ ...rest, Definition: DefinitionString }) as object;
    const name = StateMachineName ? { name: StateMachineName } : {};
    return problemsOf('stepfunctions', 'CreateStateMachine', { ...request, ...name }, ['name']);
  }
  if (Type === 'AWS::SageMaker::ModelPackageGroup') {
    const { ModelPackageGroupPolicy: _, ...group } = Properties;
    return problemsOf('sagemaker', 'CreateModelPackageGroup', group);
  }
  const [service, operation, supplied] = OPERATIONS[Type] ?? [];
  if (Type === 'AWS::ApplicationAutoScaling::ScalableTarget') {
    // A list in CloudFormation, a map in the API.
    const { Tags: _, ScheduledActions = [], ...target } = Properties;
    const { ServiceNamespace, ResourceId, ScalableDimension } = target;
    return [
      ...problemsOf('application-autoscaling', 'RegisterScalableTarget', target),
      ...(ScheduledActions as object[]).flatMap((action) =>
        problemsOf('application-autoscaling', 'PutScheduledAction', {
          ServiceNamespace,
          ResourceId,
          ScalableDimension,
          ...action,
        }),
      ),
    ];
  }
  return service && operation ? problemsOf(service, operation, Properties, supplied) : [];
}

/** Of every resource of a template. */
export function templateProblems(template: unknown): string[] {
  const { Resources } = template as { readonly Resources: MatrixTemplate };
  return Object.values(Resources).flatMap((resource) =>
    problemsOfResource({ ...resource, Properties: resource.Properties ?? {} }),
  );
}
