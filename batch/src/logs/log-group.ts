/** The log group that SageMaker names for all transform jobs of an account and region. */
export const JOB_LOG_GROUP = '/aws/sagemaker/TransformJobs';
/** The same of Processing jobs; their metrics have it as namespace. */
export const PROCESSING_LOG_GROUP = '/aws/sagemaker/ProcessingJobs';
