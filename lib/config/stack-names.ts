/** Names of stacks that would be the same. */
import { STACK_NAMES } from '../stack-names.ts';

/** Models whose stacks have the name of another stack of the configuration. */
export function sameStacks(
  project: string,
  models: Readonly<Record<string, Partial<Record<'endpoint' | 'batch' | 'batchWorker', unknown>>>>,
  imageExists: boolean,
  hasRegistry: boolean,
) {
  const taken = new Map<string, string>();
  if (!imageExists) taken.set(STACK_NAMES.image(project), 'the image');
  if (hasRegistry) taken.set(STACK_NAMES.registry(project), 'the Model Registry');
  return Object.entries(models).flatMap(([model, { endpoint, batch, batchWorker }]) => {
    const stacks = [
      ...(endpoint ? [STACK_NAMES.endpoint(project, model)] : []),
      ...(batch ? [STACK_NAMES.batch(project, model)] : []),
      ...(batchWorker ? [STACK_NAMES.batchWorker(project, model)] : []),
    ];
    return stacks.flatMap((stack) => {
      const other = taken.get(stack);
      if (other !== undefined) return [{ model, other, stack }];
      taken.set(stack, `models.${model}`);
      return [];
    });
  });
}
