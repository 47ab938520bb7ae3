export type { ModelSample, ModelSources } from './inputs.ts';
export * from './model-data.ts';
export * from './packaged-model.ts';
