export type { ModelSample, ModelSources } from './inputs.ts';
export * from './model-data.ts';
export type { ModelPackageOptions } from './model-package.ts';
export * from './packaged-model.ts';
