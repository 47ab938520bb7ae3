/** Variants beside the model that they are of. */
import type * as z from 'zod';
import type { endpoint } from './endpoint.ts';
import { refusePackaging, type Sources, sourcesOf } from './sources.ts';

/** Refuses variants that change the packaging of a model that is packaged already, and a model that no variant serves. */
export function checkVariants(
  config: Sources & {
    readonly endpoint?: z.output<typeof endpoint> | undefined;
    readonly batch?: unknown;
    readonly batchWorker?: unknown;
  },
  context: z.RefinementCtx,
): void {
  const { variants = [], shadow, components = [] } = config.endpoint ?? {};
  const placed = [
    ...variants.map((variant, i) => ({ variant, path: ['endpoint', 'variants', i] })),
    ...components.map((variant, i) => ({ variant, path: ['endpoint', 'components', i] })),
    ...(shadow ? [{ variant: shadow, path: ['endpoint', 'shadow'] }] : []),
  ];
  const derived = placed.filter(({ variant }) => sourcesOf(variant).length === 0);
  for (const { variant, path } of config.model === undefined ? derived : []) {
    refusePackaging(variant, context, path);
    if (config.modelName === undefined || variant.environment === undefined) continue;
    const message = `a model of SageMaker has its own. Leave it out`;
    context.addIssue({ code: 'custom', path: [...path, 'environment'], message });
  }
  const all = [...variants, ...components];
  if (all.length === 0 || derived.length > 0 || config.batch || config.batchWorker) return;
  const kind = components.length > 0 ? 'component' : 'variant';
  const message = `no ${kind} serves it: each has a model of its own. Leave the model of one ${kind} out`;
  context.addIssue({ code: 'custom', path: sourcesOf(config).slice(0, 1), message });
}
