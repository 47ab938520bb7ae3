export * from './errors.ts';
export * from './image-declaration.ts';
export * from './manifest.ts';
export * from './manifest-path.ts';
export * from './parse.ts';
export * from './postprocess.ts';
export * from './preprocess.ts';
export * from './preprocess-defaults.ts';
