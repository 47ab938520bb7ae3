/** Serving on SavedModelSession with TensorFlow Serving's semantics and texts. */
export * from './batch-queue.ts';
export * from './batches.ts';
export * from './batching.ts';
export * from './dtype-names.ts';
export * from './examples.ts';
export * from './joining.ts';
export * from './load-servable.ts';
export * from './missing-servable.ts';
export * from './multi-inference.ts';
export * from './predict.ts';
export * from './servable.ts';
export * from './session.ts';
export * from './status-error.ts';
export * from './version-directory.ts';
export * from './warmup.ts';
