/** Versions of the Model Registry that a model can be made of. */
import type { Problem } from '../problem.ts';

/** Of a version, with its region. */
export const MODEL_PACKAGE_ARN =
  /^arn:aws[a-z-]*:sagemaker:(?<region>[a-z0-9-]+):\d{12}:model-package\/[a-zA-Z0-9](?:-*[a-zA-Z0-9]){0,62}\/\d{1,9}$/;

/**
 * What CreateModel would refuse of a model package.
 * @param region where the model is; undefined if synthesis does not know
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html (ModelPackageName)
 */
export function modelPackageProblem(arn: string, region: string | undefined): Problem {
  const { region: found } = MODEL_PACKAGE_ARN.exec(arn)?.groups ?? {};
  if (found === undefined) {
    return {
      problem: `'${arn}' is no version of a model package group`,
      fix: 'Write arn:aws:sagemaker:REGION:ACCOUNT:model-package/GROUP/VERSION, as register prints it',
    };
  }
  if (region === undefined || found === region) return undefined;
  return {
    problem: `the version is in ${found} and the model in ${region}`,
    fix: `Register it in ${region} too`,
  };
}
