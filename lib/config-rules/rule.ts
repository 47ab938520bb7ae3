/** A rule of AWS's: what it says, where AWS says it, and where a configuration breaks it. */
import type { EndpointConfig, ModelConfig, ServingConfig } from '../config.ts';
import { fieldOfVariant, type PlannedVariant, plannedVariants } from '../endpoint-variants.ts';
import type { Problem } from '../problem.ts';

/** SageMaker's developer guide and API reference, for {@link Rule.source}. */
export const GUIDE = 'https://docs.aws.amazon.com/sagemaker/latest/dg';
export const API = 'https://docs.aws.amazon.com/sagemaker/latest/APIReference';

/** A field of a configuration that AWS would refuse. */
export interface Finding {
  /** The field, `models.digits.endpoint.deployment.traffic`. */
  readonly path: string;
  /** What is wrong, with the value. */
  readonly problem: string;
  /** What to write instead. */
  readonly fix: string;
}

/** A rule that a configuration is checked against before anything is built. */
export interface Rule {
  /** Names it in docs/aws-rules.md. */
  readonly id: string;
  /** The rule, in one sentence. */
  readonly says: string;
  /** AWS's page. */
  readonly source: string;
  check(config: ServingConfig): Finding[];
}

/** A finding at a path, or none. */
export function at(path: string, problem: Problem): Finding[] {
  return problem ? [{ path, ...problem }] : [];
}

/** A check of this part of every model; `check` returns the field below the part, and the problem. */
export function each<K extends 'batch' | 'batchWorker' | 'endpoint'>(
  part: K,
  check: (
    value: NonNullable<ModelConfig[K]>,
  ) => readonly [field: string, problem: Problem] | undefined,
): Rule['check'] {
  return ({ models }) =>
    Object.entries(models).flatMap(([name, model]) => {
      const value = model[part];
      const [field = '', problem] = (value && check(value)) ?? [];
      return at(`models.${name}.${part}${field && `.${field}`}`, problem);
    });
}

/**
 * A check of every variant of every endpoint, of a shadow too. `check` sees the endpoint with the variant's fields in it,
 * and returns a field and the problem, which is reported once, where the field stands.
 */
export function eachVariant(
  check: (
    value: EndpointConfig,
    variant: PlannedVariant,
  ) => readonly [field: string, problem: Problem] | undefined,
): Rule['check'] {
  return ({ models }) =>
    Object.entries(models).flatMap(([name, model]) => {
      if (!model.endpoint) return [];
      const found = plannedVariants(model, model.endpoint).flatMap((variant) => {
        const [field = '', problem] = check(variant.endpoint, variant) ?? [];
        return at(`models.${name}.endpoint.${fieldOfVariant(variant, field)}`, problem);
      });
      return found.filter(({ path }, i) => found.findIndex((one) => one.path === path) === i);
    });
}
