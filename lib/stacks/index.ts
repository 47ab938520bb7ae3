export * from './batch-stack.ts';
export * from './batch-worker-stack.ts';
export * from './component-stack.ts';
export * from './image-stack.ts';
export * from './registry-stack.ts';
export * from './serving-app.ts';
export * from './serving-stack.ts';
