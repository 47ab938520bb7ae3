/**
 * A new configuration for every update of an endpoint. SageMaker refuses an update to the configuration in use
 * ('Cannot update endpoint with the currently in use endpoint configuration'), and CloudFormation calls UpdateEndpoint
 * when any property of the endpoint changes: how traffic moves, the alarms, what is retained.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html
 */
import type { CfnEndpoint, CfnEndpointConfig, CfnEndpointProps } from 'aws-cdk-lib/aws-sagemaker';
import { AspectPriority, Aspects, TreeInspector } from 'aws-cdk-lib/core';
import { shortDigest } from '../hashing/short-digest.ts';

/** Properties whose change needs no other configuration: tags are set by calls of their own, another name is another endpoint. */
const ASIDE = ['endpointConfigName', 'endpointName', 'tags'];
const PROPS = 'aws:cdk:cloudformation:props';

/** What a configuration is for. */
interface Renewal {
  /** Undefined while it is not enabled; its configuration keeps the name that it has with it. */
  readonly endpoint: CfnEndpoint | undefined;
  /** What the endpoint is made with, or would be. */
  readonly props: CfnEndpointProps;
  /** What the endpoint names and its properties do not show: names that alarms were given. */
  readonly names?: () => readonly unknown[];
}

/**
 * Sets another logical id of the configuration, and so another name, whenever the endpoint says something else. At
 * synthesis: variants may be scaled after the endpoint is made.
 */
export function renewWith(
  config: CfnEndpointConfig,
  { endpoint, props, names = () => [] }: Renewal,
): void {
  let done = false;
  const visit = () => {
    if (done) return;
    done = true;
    const says = Object.entries(endpoint ? propsOf(endpoint) : props)
      .filter(([name, value]) => value !== undefined && !ASIDE.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const text = JSON.stringify(config.stack.resolve([says, names(), ...overridesOf(endpoint)]));
    const id = String(config.stack.resolve(config.logicalId));
    // Names of the endpoint's own alarms begin with the configuration's.
    config.overrideLogicalId(id + shortDigest(text.replaceAll(id, '')));
  };
  Aspects.of(config).add({ visit }, { priority: AspectPriority.READONLY });
}

/** Properties as they are now: an app may have set some since. */
function propsOf(endpoint: CfnEndpoint): object {
  const inspector = new TreeInspector();
  endpoint.inspect(inspector);
  return inspector.attributes[PROPS] as object;
}

/** What `addPropertyOverride` and its like have changed, which the CDK keeps to itself; empty if nothing. */
function overridesOf(endpoint: CfnEndpoint | undefined): readonly unknown[] {
  const overrides: unknown = endpoint && Reflect.get(endpoint, 'rawOverrides');
  return overrides && Object.keys(overrides).length > 0 ? [overrides] : [];
}
