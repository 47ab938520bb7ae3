/** What AWS refuses, in its own words, with what to do about that kind of refusal. */
import { NO_SUCH_JOB } from '@sagemaker-tfs/batch';
import { httpStatusOf, isOfCaller, isThrottled } from '@sagemaker-tfs/batch/s3';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError, usageError } from '../../errors.ts';

/** Whether the SDK found no region in the call, the environment or the profile. */
export function isRegionMissing(error: unknown): boolean {
  return error instanceof Error && error.message === 'Region is missing';
}

/** Errors of the SDK as the command's own; others as they are. */
export function awsError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  if (isRegionMissing(error))
    return usageError('no AWS region is set. Give --region, or set AWS_REGION.');
  if (error.name === 'CredentialsProviderError') {
    return new CommandError(
      'AWS_CREDENTIALS',
      'no AWS credentials were found. Set AWS_PROFILE, or run aws sso login.',
      { cause: error },
    );
  }
  if (!('$metadata' in error)) return error;
  const details = { awsError: error.name };
  return new CommandError('AWS_FAILED', messageOf(error), { cause: error, details });
}

function messageOf(error: Error): string {
  const said = sentence(error.message || (error as NodeJS.ErrnoException).code || error.name);
  const status = httpStatusOf(error);
  if (status === undefined) {
    return `AWS does not answer: ${said} Check the network, the region, and AWS_ENDPOINT_URL if it is set.`;
  }
  const advice = adviceFor(error, status);
  // An error of S3 may say what to do itself.
  const rest = advice === undefined || said.includes(advice) ? '' : ` ${advice}`;
  return `AWS answers ${error.name}: ${said}${rest}`;
}

/**
 * Names that services have in common for refused credentials; `isOfCaller` has those of S3.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html
 */
const CREDENTIALS =
  /^(ExpiredToken|InvalidClientTokenId|UnrecognizedClient|InvalidSignature|IncompleteSignature|MissingAuthenticationToken|RequestExpired)/;
const DENIED = /^(AccessDenied|NotAuthorized|Unauthorized|OptInRequired)/;
const ABSENT = new RegExp(`^NoSuch|NotFound|DoesNotExist|${NO_SUCH_JOB}`, 'i');
const TAKEN = /InUse|AlreadyExists|Conflict/;
const AT_LIMIT = /LimitExceeded|QuotaExceeded/;

/** What to do about a kind of refusal; undefined if AWS's own words say it. */
function adviceFor(error: Error, status: number): string | undefined {
  const { name, message } = error;
  if (isThrottled(error)) {
    return 'It is asked too often. Try again in a minute, with fewer commands at a time.';
  }
  if (status >= 500) return 'The fault is with AWS. Try again in a few minutes.';
  // What S3 answers to a wrong clock says so.
  if (name === 'RequestTimeTooSkewed') return undefined;
  if (isOfCaller(error) || CREDENTIALS.test(name)) return 'Renew the credentials.';
  if (DENIED.test(name) || status === 403) {
    return message.includes('credentials need')
      ? undefined
      : 'Have the permission that is named granted to your credentials.';
  }
  if (ABSENT.test(`${name} ${message}`)) {
    return message.includes('Check ') ? undefined : 'Check names and region.';
  }
  if (AT_LIMIT.test(name)) return 'Wait until others have ended, or ask AWS for a larger quota.';
  if (TAKEN.test(name)) return 'Give another name.';
  return undefined;
}
