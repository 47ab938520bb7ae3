/** Environment variables of the serving runtime, typed and checked by the runtime's own catalogue. */

import { defaultModelOf } from '@sagemaker-tfs/container/default-model';
import { readEnvironment, type ValueOf } from '@sagemaker-tfs/container/environment';
import type { ENVIRONMENT_VARIABLES } from '@sagemaker-tfs/container/environment-variables';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { Token } from 'aws-cdk-lib/core';
import { isForGpus, isInProcess, type ServingImageVariant } from './image-variant.ts';
import type { ModelDataConfig } from './model-data/model-data.ts';
import { environmentProblem, MODEL_ENVIRONMENT } from './rules/limits.ts';
import { invalidProp, refuseProblem, type Where } from './validation.ts';

type Definition = (typeof ENVIRONMENT_VARIABLES)[number];

/** The runtime's variables by name; `container/src/environment-variables.ts` says what each does. */
export type RuntimeEnvironment = {
  readonly [D in Definition as D['name']]?: ValueOf<D, `${number}-${number}`>;
};

/** What is known of a model's data. */
type DataOfModel = Partial<Pick<ModelDataConfig, 'container' | 'manifest' | 'multiModel'>>;

/**
 * Variables as SageMaker takes them.
 * @param additional variables that a handler reads
 * @param options.container without data where the image holds the model
 * @param options.multiModel whether the container loads and unloads models
 * @param options.manifest of the archive, where it is known
 * @throws naming the variable that the runtime would refuse, or that fits the image ill
 */
export function renderEnvironment(
  where: Where,
  variant: ServingImageVariant,
  runtime: RuntimeEnvironment = {},
  additional: Readonly<Record<string, string>> = {},
  { container, multiModel = false, manifest }: DataOfModel = {},
): Record<string, string> {
  const backend = backendFor(where, variant, runtime);
  checkPrecision(where, variant, runtime);
  const rendered = Object.fromEntries(
    Object.entries({
      ...additional,
      ...runtime,
      ...(backend && { SAGEMAKER_TFS_BACKEND: backend }),
    })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
  refuseSageMakersOwn(where, rendered, container);
  const resolved = Object.entries(rendered).filter(([, value]) => !Token.isUnresolved(value));
  const problem = environmentProblem(Object.fromEntries(resolved), MODEL_ENVIRONMENT);
  refuseProblem(where, 'environment', problem);
  // As SageMaker sets it.
  const variables = { ...rendered, ...(multiModel && { SAGEMAKER_MULTI_MODEL: 'true' }) };
  checkWithRuntime(where, variables, manifest?.models);
  return rendered;
}

/** The image decides between in-process and TensorFlow Serving; the variable chooses the transport. */
function backendFor(where: Where, variant: ServingImageVariant, runtime: RuntimeEnvironment) {
  const backend = runtime.SAGEMAKER_TFS_BACKEND;
  if (isInProcess(variant)) {
    if (backend === undefined || backend === 'in-process') return 'in-process';
    invalidProp(
      where,
      'environment.SAGEMAKER_TFS_BACKEND',
      `'${backend}' needs TensorFlow Serving, which the '${variant}' image does not hold`,
      `Leave it out, or use a 'cpu' or 'gpu' image`,
    );
  }
  if (backend === 'in-process') {
    invalidProp(
      where,
      'environment.SAGEMAKER_TFS_BACKEND',
      `the '${variant}' image does not hold TensorFlow's C library`,
      `Use an image with variant 'in-process' or 'in-process-gpu', or leave the variable out`,
    );
  }
  return backend;
}

/** TensorFlow would run the model in its own types and say nothing. */
function checkPrecision(where: Where, variant: ServingImageVariant, runtime: RuntimeEnvironment) {
  const precision = runtime.SAGEMAKER_TFS_MIXED_PRECISION;
  const fits = isForGpus(variant) ? 'float16' : 'bfloat16';
  if (precision === undefined || precision === 'off' || precision === fits) return;
  const other = { bfloat16: 'by oneDNN, on CPUs only', float16: 'on GPUs only' }[precision];
  // What is neither is refused, with the choices, by the runtime's own check.
  if (other === undefined) return;
  invalidProp(
    where,
    'environment.SAGEMAKER_TFS_MIXED_PRECISION',
    `'${precision}' is computed ${other}, which the '${variant}' image does not run models on`,
    `Use '${fits}', or leave it out`,
  );
}

/** Where SageMaker calls the container and lays the model out: others are never healthy, or find no model. */
const SAGEMAKERS_OWN = [
  'SAGEMAKER_BIND_TO_PORT',
  'SAGEMAKER_BATCH',
  'SAGEMAKER_MULTI_MODEL',
  'SAGEMAKER_TFS_BIND_ADDRESS',
  'SAGEMAKER_TFS_FOREIGN_PAGES',
  'SAGEMAKER_TFS_MULTI_MODEL_DIR',
] as const;
/** The same, but of an image that holds the model. */
const PLACE = 'SAGEMAKER_TFS_MODEL_DIR';

function refuseSageMakersOwn(
  where: Where,
  variables: Readonly<Record<string, string>>,
  container: DataOfModel['container'],
): void {
  const isInImage = container !== undefined && Object.keys(container).length === 0;
  const names = isInImage ? SAGEMAKERS_OWN : [...SAGEMAKERS_OWN, PLACE];
  const own = names.find((name) => Object.hasOwn(variables, name));
  if (own === undefined) return;
  const problem = 'SageMaker decides it, and would not find the container or its model';
  invalidProp(where, `environment.${own}`, problem, 'Leave it out');
}

function checkWithRuntime(
  where: Where,
  variables: Readonly<Record<string, string>>,
  models: Manifest['models'] | undefined,
): void {
  const known = Object.entries(variables).filter(([, value]) => !Token.isUnresolved(value));
  const problem = problemAtStart(Object.fromEntries(known), models);
  if (problem === '') return;
  invalidProp(where, 'environment', problem, 'The runtime would not start, or would ignore it');
}

/** What the runtime would say of the variables; empty if nothing. */
function problemAtStart(
  variables: Readonly<Record<string, string>>,
  models: Manifest['models'] | undefined,
): string {
  try {
    const { environment, warnings } = readEnvironment(variables);
    if (models) defaultModelOf(models, environment);
    return warnings.join('; ');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
