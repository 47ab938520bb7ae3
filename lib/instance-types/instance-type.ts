/** Instance types as SageMaker spells them, `ml.<family>.<size>`, checked before anything is deployed. */
import { Token } from 'aws-cdk-lib/core';
import { invalidProp, type Where } from '../validation.ts';
import { INSTANCE_FAMILIES, type InstanceFamily } from './families.ts';

/** What an instance type is rented for; not every type is offered for both. */
export type InstanceUse = 'endpoint' | 'transform';

const USE_NAMES = { endpoint: 'SageMaker endpoints', transform: 'batch transform jobs' } as const;

/** Whether instances of a type have a GPU; false for tokens and unknown types. */
export function hasGpu(instanceType: string): boolean {
  return INSTANCE_FAMILIES[instanceType.split('.')[1] ?? '']?.gpu !== undefined;
}

/** Processor of instances of a type; `x86_64` for tokens and unknown types. */
export function architectureOf(instanceType: string): 'x86_64' | 'arm64' {
  return INSTANCE_FAMILIES[instanceType.split('.')[1] ?? '']?.architecture ?? 'x86_64';
}

function namesFor(use: InstanceUse): string[] {
  return Object.entries(INSTANCE_FAMILIES).flatMap(([name, family]) =>
    (use === 'endpoint' ? family.sizes : (family.transformSizes ?? [])).map(
      (size) => `ml.${name}.${size}`,
    ),
  );
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The known instance types most like what was written, best first. */
function suggestions(written: string, use: InstanceUse): string[] {
  return namesFor(use)
    .map((name) => ({ name, distance: editDistance(written, name) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/**
 * The family of an instance type.
 * @returns undefined for a token, whose value only the deployment knows
 * @throws naming the prop where SageMaker has no such type for this use
 */
export function instanceFamily(
  where: Where,
  prop: string,
  instanceType: string,
  use: InstanceUse,
): InstanceFamily | undefined {
  if (Token.isUnresolved(instanceType)) return undefined;
  if (!namesFor(use).includes(instanceType)) {
    invalidProp(
      where,
      prop,
      `'${instanceType}' is not an instance type for ${USE_NAMES[use]}`,
      `Did you mean ${suggestions(instanceType, use).join(', ')}?`,
    );
  }
  return INSTANCE_FAMILIES[instanceType.split('.')[1] ?? ''];
}
