/** What SageMaker refuses of an update that CloudFormation would make. */
import type { Resource, Resources } from './resources.ts';

interface Variant {
  readonly VariantName: string;
  readonly InstanceType?: string;
}

function variantsOf(resources: Resources): ReadonlyMap<string, Variant> {
  const configs = Object.values(resources).filter(
    ({ Type }) => Type === 'AWS::SageMaker::EndpointConfig',
  );
  const variants = configs.flatMap(
    ({ Properties }) => (Properties?.ProductionVariants ?? []) as Variant[],
  );
  return new Map(variants.map((variant) => [variant.VariantName, variant]));
}

const isTarget = ({ Type }: Resource) => Type === 'AWS::ApplicationAutoScaling::ScalableTarget';

/** Variants with a scalable target, which is there until CloudFormation cleans up. */
function registered(resources: Resources): string[] {
  const targets = Object.values(resources).filter(isTarget);
  return targets.map(
    ({ Properties }) => String(Properties?.ResourceId).split('/variant/')[1] ?? '',
  );
}

/** Name and kind of the endpoint. */
function endpointOf(resources: Resources): readonly [name: unknown, kind: string] {
  const find = (type: string) =>
    Object.values(resources).find(({ Type }) => Type === `AWS::SageMaker::${type}`)?.Properties;
  const { AsyncInferenceConfig, ProductionVariants = [] } = find('EndpointConfig') ?? {};
  const [variant] = ProductionVariants as object[];
  const other = AsyncInferenceConfig ? 'asynchronous' : 'of instances';
  return [
    find('Endpoint')?.EndpointName,
    variant && 'ServerlessConfig' in variant ? 'serverless' : other,
  ];
}

/** @see https://github.com/aws/sagemaker-python-sdk/pull/3124 */
function kindChange(before: Resources, after: Resources): string | undefined {
  const [name, kind] = endpointOf(before);
  const [newName, newKind] = endpointOf(after);
  if (kind === newKind || JSON.stringify(name) !== JSON.stringify(newName)) return undefined;
  return `an endpoint that is ${kind} cannot become ${newKind}`;
}

/**
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-update.html
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html
 */
export function refusals(before: Resources, after: Resources): string[] {
  const kind = kindChange(before, after);
  if (kind) return [kind];
  const now = variantsOf(after);
  const were = variantsOf(before);
  const isNew = [...now.keys()].some((name) => !were.has(name));
  const scaled = registered(before);
  return [...were].flatMap(([name, old]) => {
    if (now.size === 0) return [];
    const variant = now.get(name);
    if (!variant && isNew) return [`variant ${name} changes its name`];
    if (!variant)
      return scaled.includes(name)
        ? [`variant ${name} is removed while a scalable target is registered`]
        : [];
    const changed = variant.InstanceType !== old.InstanceType;
    if (!changed || !scaled.includes(name)) return [];
    return [`variant ${name} gets ${variant.InstanceType} while a scalable target is registered`];
  });
}
