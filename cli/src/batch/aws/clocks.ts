/** Milliseconds by which the clocks of S3, of SageMaker and of this machine may differ. */
export const CLOCKS = 60_000;
