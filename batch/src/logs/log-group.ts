/** The log group that SageMaker names for all transform jobs of an account and region. */
export const JOB_LOG_GROUP = '/aws/sagemaker/TransformJobs';
