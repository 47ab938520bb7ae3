/** One way to refuse bad props: which construct, which prop, what is wrong, what to do. */
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { InvalidProp } from './errors.ts';
import type { Problem } from './problem.ts';

/** Where a prop was given: a construct, or the text that stands for one not yet built. */
export type Where = Construct | string;

/**
 * Refuses a prop.
 * @param prop path of the prop as the user wrote it, for example `variants[0].instanceType`
 * @param problem what is wrong, with the value
 * @param fix what to write instead
 */
export function invalidProp(where: Where, prop: string, problem: string, fix: string): never {
  const path = typeof where === 'string' ? where : where.node.path;
  throw new InvalidProp(path, prop, `${sentence(problem)} ${sentence(fix)}`);
}

/** Refuses several fields if only one counts: types let them stand side by side. */
export function checkOneOf(
  where: Where,
  prop: string,
  value: object,
  fields: readonly string[],
): void {
  const given = fields.filter((field) => (value as Record<string, unknown>)[field] !== undefined);
  if (given.length === 1) return;
  const all = fields.map((field) => `'${field}'`).join(', ');
  const problem =
    given.length > 1 ? `it has ${given.map((field) => `'${field}'`).join(' and ')}` : 'it has none';
  invalidProp(where, prop, problem, `Give one of ${all}`);
}

/** Refuses a prop by one of AWS's limits, if there is a problem. */
export function refuseProblem(where: Where, prop: string, problem: Problem): void {
  if (problem) invalidProp(where, prop, problem.problem, problem.fix);
}

/** Refuses a number outside `min`-`max`; leaves tokens and undefined alone. */
export function checkRange(
  where: Where,
  prop: string,
  value: number | undefined,
  min: number,
  max: number,
  unit = '',
): void {
  if (value === undefined || Token.isUnresolved(value)) return;
  if (Number.isFinite(value) && value >= min && value <= max) return;
  invalidProp(
    where,
    prop,
    `${value} is out of range`,
    `Give a number from ${min} to ${max}${unit && ` ${unit}`}`,
  );
}

/** Refuses a number that is not whole, or outside `min`-`max`. */
export function checkInteger(...range: Parameters<typeof checkRange>): void {
  const [where, prop, value, min, max] = range;
  if (value !== undefined && !Token.isUnresolved(value) && !Number.isInteger(value)) {
    invalidProp(where, prop, `${value} is not a whole number`, `Give one from ${min} to ${max}`);
  }
  checkRange(...range);
}
