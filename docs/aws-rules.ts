/** `docs/aws-rules.md`, written from the rules that configurations are checked by. */
import { AWS_RULES } from '../lib/testing/parts.ts';
import { table } from '../tools/table.ts';
import { regionsText } from './regions.ts';

/** Text of `docs/aws-rules.md`. */
export function awsRulesText(): string {
  return `# AWS's rules

Generated from the code by \`npm run docs\`; a test keeps it true.

SageMaker refuses a violation only minutes into a deployment, or accepts it and fails later. So \`cdk synth\` checks these
rules first. Its message names the field and AWS's page.

${table(
  ['id', 'rule', 'source'],
  AWS_RULES.map(({ id, says, source }) => [`\`${id}\``, says, `[AWS](${source})`]),
)}

The constructs check more than a configuration can express: names, combinations of variants, keys of volumes, host images
and drivers, the time of a deployment, transform settings.

## Quotas

- **Updates need twice the instances.** A blue/green deployment (all but \`rolling\`) runs the old and the new fleet at
  once: an endpoint of N instances needs a quota of 2 N for its type (\`ml.g4dn.xlarge for endpoint usage\`). With
  autoscaling it needs twice \`maxInstances\`. A \`rolling\` update needs N plus its largest step, which is at most N / 2.
  [AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-blue-green.html)
- **Batch** needs \`instanceCount\` times \`maxConcurrentJobs\` of \`... for transform job usage\`, for the first
  type and for each fallback.
  [AWS](https://docs.aws.amazon.com/general/latest/gr/sagemaker.html)
- **Workers of AWS Batch** need vCPUs of EC2, apart for spot and on demand, and for standard, G and P instances: \`All G and VT
  Spot Instance Requests\` is 0 in a new account. With fewer vCPUs than all workers take, fewer run at once; with none they wait for ever.
  [AWS](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html)

## Inline policies of a role

All inline policies of a role together have at most 10,240 characters, without whitespace, and the quota cannot be raised.
\`cdk synth\` adds them up for every role of a stack, with usual lengths for names that only the deployment knows, and
refuses what is larger. 16 components of an endpoint fit, and 8 models in a VPC that share a role. While an update replaces
models, the role has the policies for the old data and for the new: leave room, or change a few models at a time.
[AWS](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html)

## A scaled variant's type and name

While a variant is registered with Application Auto Scaling, SageMaker refuses to change its instance type, and to remove it. Deploy in two
steps, [first with \`registered: false\`](updating-and-rolling-back.md#another-instance-type-of-a-scaled-endpoint).
[AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-update.html)
The same page asks for it before such a variant is removed, as
[at the end of a comparison](updating-and-rolling-back.md#taking-a-scaled-variant-away): CloudFormation takes the scalable
target away after the update, which is too late. \`sagemaker-tfs doctor --account\` knows what is deployed and reports both.
A blue/green or rolling update cannot change a variant's name at all.
[AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html)

## Unproven

No page of AWS's answers these questions, and they were not tried in an account:

| question | what the constructs do |
| --- | --- |
| Does an alarm that is in ALARM before an update roll it back? AWS tells only of alarms that 'trip during the baking period' ([AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-blue-green-all-at-once.html)). | An endpoint's rollback alarms are new with each configuration, and missing data is not breaching, so they are never in ALARM at the start. That of an inference component stays, and counts its old copies too: [deploy the fix of one that fails without \`deployment\`](updating-and-rolling-back.md#when-an-alarm-already-fires). An alarm of your own in \`deployment.rollbackAlarms\` should be OK before you deploy. |
| Does CloudFormation pass on that SageMaker refuses the configuration in use ('Cannot update endpoint with the currently in use endpoint configuration')? AWS only says that 'to update an endpoint, you must create a new EndpointConfig' ([AWS](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html)). | Every change of an endpoint comes with a new configuration. After SageMaker's own rollback CloudFormation asks for the old one, which is in use; if it stops there, the failed check's reason has [the command that continues](updating-and-rolling-back.md#a-rollback-that-stops). |
| Do alarms count in the update by which CloudFormation rolls back? Nothing excludes it ([AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html)). | A rollback that leaves the newer configuration in use is stopped before anything in use is deleted: [how to continue](updating-and-rolling-back.md#a-rollback-that-stops). |
| Does an update take a new fleet of 0 instances, where an asynchronous endpoint sleeps and its count is kept ([AWS](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VariantProperty.html))? | It is not asked for: an update of an asynchronous endpoint starts with the configuration's count, at least 1. |
| Does an update of a scaled endpoint keep its old data capture beside its instance counts? AWS lists \`DataCaptureConfig\` among the properties that can be excluded, as 'Not currently supported' ([AWS](https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-sagemaker-endpoint-variantproperty.html)). | Only \`DesiredWeight\` is excluded, as a value that is not supported could refuse every update. After the first change of \`dataCapturePercent\` beside \`scaling\`, compare \`aws sagemaker describe-endpoint --query DataCaptureConfig\`. |
| Does \`RetainAllVariantProperties\` keep the number of instances that SageMaker chose for components ([AWS](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html))? | For components it is always set. Look at the number after the first update of the instances. |
| Do ARNs of endpoints and inference components keep the capitals of a name? [Old reports](https://github.com/philschmid/cdk-samples/issues/2) say no for endpoints, [a newer one](https://github.com/prometheus-community/yet-another-cloudwatch-exporter/pull/1793) says yes. | Default names have no capitals. Policies for other names have both spellings. |
| Does data capture write \`PREFIX/NAME/\` or \`PREFIX//NAME/\` if its address ends in a slash? AWS's examples have none ([AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html)). | The address has no slash at the end. |
| Does Step Functions' SDK integration know \`TransformAmiVersion\` in every region? A model of the API that is too old refuses unknown fields ([AWS](https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html)). | Batch runs on GPUs name it; one that is refused fails at its start with \`States.Runtime\`. |
| May a blue/green update add or remove variants? AWS only says that it cannot rename one ([AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html)). | They ask for it as for any update. If it is refused, deploy the variants under another name of the model, and move the callers. |
| Under which names do CloudWatch's PromQL queries see the runtime's metrics? AWS documents the labels ([AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/inference-monitoring.html)), and no query. | Alarms of \`metrics.detailed\` use the metrics' own names; look at their queries once an endpoint runs. |
| Do PromQL queries see metrics of the container's own \`/metrics\` without OTel enrichment of the account? AWS's insights of endpoints need it ([AWS](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/SageMaker-AI-Insights-Get-Started.html)). | Nothing: it is a setting of the account. [Turn it on](monitoring.md#detailed-metrics-and-the-account) if the alarms of \`metrics.detailed\` have no data. |
| Does a rule of EventBridge deliver to a topic by a role? One text of AWS's page says that delivery 'may fail, particularly' under KMS ([AWS](https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html)); others allow a role or the topic's policy. | Messages of runs that ended without a word go by a role. If none comes, let \`events.amazonaws.com\` publish in the topic's policy, and take the role out of the rule's target. |
| How large may a request to a real-time endpoint be? AWS has raised it to 25 MB; the reference of the API still says 6,291,456 bytes ([AWS](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html)). | Messages and pages say 25 MB. The runtime takes what comes. |
| Is a quotation mark in an object's key escaped where an event becomes the input of a run (\`startOnManifest\`)? | Nothing: give manifests keys without quotation marks. |
| Does \`AssociateKmsKey\` need rights on the key? | The function that calls it may use the key through CloudWatch Logs. |
| Does an asynchronous endpoint abort uploads in parts itself? | Its role may; the stack's bucket deletes incomplete uploads after 7 days. |
| What does Application Auto Scaling make of an \`at(...)\` that has passed? [EC2 Auto Scaling refuses](https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutScheduledUpdateGroupAction.html) a time in the past. [PutScheduledAction](https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScheduledAction.html), its model in the SDK and the [user guide](https://docs.aws.amazon.com/autoscaling/application/userguide/scheduled-scaling-policy-overview.html) say neither that, nor whether an action is deleted once it has run. | A warning at synthesis. The entry stays in the template: without it, the target would be updated, which may set the limits back to those of the configuration. |
| Does EventBridge use a topic's key by its role or as a service? | Both are allowed: the role by its policy, the service by the key's policy. |
| Does CloudFormation set a state machine back to AWS's own key if its template names none any more? | The template of one without a key says \`AWS_OWNED_KEY\`. |
| Does Step Functions name the state machine alone to KMS, or with a label, for the runs of a distributed map? | Roles may use the key for every state machine of the account and region. |
| Do the China regions have Lambda with Node.js 24 on arm64, and traces of state machines? AWS says that [traces of Lambda functions](https://docs.amazonaws.cn/en_us/aws/latest/userguide/lambda.html) are not there. | The functions and the state machine use them in every region. |

\`npm run first-account\` answers what one account can tell in half an hour: [First deployment](first-deploy.md).

${regionsText()}`;
}
