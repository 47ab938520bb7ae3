/**
 * Names of models, endpoints, variants and jobs.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModel.html
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariant.html
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html
 */
export const SAGEMAKER_NAME = /^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$/;
