/** `docs/aws-rules.md`, written from the rules that configurations are checked by. */
import { AWS_RULES } from '../lib/rules/index.ts';
import { regionsText } from './regions.ts';
import { table } from './table.ts';

/** Text of `docs/aws-rules.md`. */
export function awsRulesText(): string {
  return `# AWS's rules

Generated from the code by \`npm run docs\`; a test keeps it true.

SageMaker refuses these only after minutes of a deployment, or takes them and fails later. So \`cdk synth\` checks a
configuration against them first, and a message names its field and the page of AWS's.

${table(
  ['rule', 'says', 'source'],
  AWS_RULES.map(({ id, says, source }) => [`\`${id}\``, says, `[AWS](${source})`]),
)}

Rules that have no place in a configuration are checked by the constructs: names, combinations of variants, keys of
volumes, host images and drivers, the time of a deployment, transform settings.

## Quotas

- **Updates need twice the instances.** A blue/green deployment (all but \`rolling\`) runs the old and the new fleet at
  once: an endpoint of N instances needs a quota of 2 N for its type (\`ml.g4dn.xlarge for endpoint usage\`), with
  autoscaling twice \`maxInstances\`. \`rolling\` needs N and the largest step, at most half of N more.
  [AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-blue-green.html)
- **Batch** needs \`instanceCount\` times \`maxConcurrentJobs\` of \`... for transform job usage\`, for the first
  type and for each fallback.
  [AWS](https://docs.aws.amazon.com/general/latest/gr/sagemaker.html)

## A scaled variant's type and name

While a variant is registered with Application Auto Scaling, SageMaker refuses another instance type for it: deploy in
two steps, [first with \`registered: false\`](updating-and-rolling-back.md#another-instance-type-of-a-scaled-endpoint).
[AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-update.html)
A variant's name cannot change under blue/green and rolling updates at all.
[AWS](https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html)

## Unproven

No page of AWS's was found that answers these, and no account was there to try them:

| question | what the constructs do |
| --- | --- |
| Does an alarm that is in ALARM before an update roll it back? | Rollback alarms are new with each configuration, and missing data is not breaching, so they are never in ALARM at the start. An alarm of your own in \`deployment.rollbackAlarms\` should be OK before you deploy. |
| Does \`UpdateEndpoint\` take the configuration that already runs? | CloudFormation calls it only if a property changes. A change of the deployment alone, such as \`traffic\`, is such a call; change something of the variants with it if it is refused. |
| Does \`AssociateKmsKey\` need rights on the key? | The function that calls it may use the key through CloudWatch Logs. |
| Does an asynchronous endpoint abort uploads in parts itself? | Its role may; the stack's bucket deletes incomplete uploads after 7 days. |
| Which of a key's two policies decides when EventBridge publishes by a role? | Both let it: the role, and the service in the key's policy. |

\`npm run first-account\` answers what one account can tell in half an hour: [First deployment](first-deploy.md).

${regionsText()}`;
}
