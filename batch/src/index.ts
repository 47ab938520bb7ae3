/** What the command line and the constructs both know of batch transform, S3 and ECR. */
export * from './ami.ts';
export * from './answers.ts';
export * from './ecr-image.ts';
export * from './errors.ts';
export * from './existing.ts';
export * from './inputs.ts';
export * from './instance-types.ts';
export * from './is-json.ts';
export * from './key-order.ts';
export * from './manifest-file.ts';
export * from './manifest-stream.ts';
export * from './model-digest.ts';
export * from './origin.ts';
export * from './outputs.ts';
export * from './s3-uri.ts';
export * from './settings.ts';
export * from './worker-run.ts';
