/** Limits of AWS's, as functions over plain values: constructs and configurations are checked by the same. */
import { parseEcrImage } from '@sagemaker-tfs/batch';
import { MAX_MB_IN_FLIGHT } from '@sagemaker-tfs/batch/settings';
import type { Problem } from '../problem.ts';
import { impossibleField } from './cron.ts';

const bytes = (text: string) => Buffer.byteLength(text);

/**
 * Environment of a model's container.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html
 */
export const MODEL_ENVIRONMENT = { entries: 100, value: 1024, total: 32 * 1024 } as const;
/**
 * Environment that a transform job adds.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html
 */
export const TRANSFORM_ENVIRONMENT = { entries: 16, value: 10_240, total: Infinity } as const;

/** Keys of both. */
const MAX_KEY = 1024;
const KEY = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** What SageMaker would refuse of environment variables. */
export function environmentProblem(
  variables: Readonly<Record<string, string>>,
  limits: { readonly entries: number; readonly value: number; readonly total: number },
): Problem {
  const entries = Object.entries(variables);
  if (entries.length > limits.entries) {
    return {
      problem: `${entries.length} variables, and SageMaker takes ${limits.entries}`,
      fix: 'Put the rest into a file beside the handler',
    };
  }
  for (const [name, value] of entries) {
    if (!KEY.test(name) || bytes(name) > MAX_KEY) {
      const fix = 'Use letters, digits and _, not beginning with a digit';
      return { problem: `'${name}' is not a name of a variable`, fix };
    }
    if (bytes(value) > limits.value) {
      return {
        problem: `${name} has ${bytes(value)} bytes, and SageMaker takes ${limits.value}`,
        fix: 'Put it into a file beside the handler',
      };
    }
  }
  const total = entries.reduce((sum, [name, value]) => sum + bytes(name) + bytes(value), 0);
  if (total <= limits.total) return undefined;
  return {
    problem: `names and values have ${total} bytes together, and SageMaker takes ${limits.total}`,
    fix: 'Put the longest into a file beside the handler',
  };
}

const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;
const MAX_TAGS = 50;

/**
 * What AWS would refuse of tags.
 * @see https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
 */
export function tagsProblem(tags: Readonly<Record<string, string>>): Problem {
  const entries = Object.entries(tags);
  if (entries.length > MAX_TAGS) {
    return { problem: `${entries.length} tags`, fix: `A resource has at most ${MAX_TAGS}` };
  }
  for (const [key, value] of entries) {
    if (/^aws:/i.test(key)) {
      const problem = `'${key}' begins with 'aws:', which AWS keeps for itself`;
      return { problem, fix: 'Choose another name' };
    }
    if (!TAG_TEXT.test(key) || !TAG_TEXT.test(value) || key.length > 128 || value.length > 256) {
      return {
        problem: `'${key}' = '${value}' is not a tag`,
        fix: 'Use letters, digits, spaces and _ . : / = + - @, at most 128 for the name and 256 for the value',
      };
    }
  }
  return undefined;
}

/**
 * What EventBridge would refuse of a schedule.
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
 */
export function scheduleProblem(expression: string): Problem {
  const rate = /^rate\((.*)\)$/.exec(expression)?.[1];
  if (rate !== undefined) {
    const [, count = '', unit = ''] = /^([1-9]\d*) (minutes?|hours?|days?)$/.exec(rate) ?? [];
    if (!unit) {
      const problem = `'${expression}' is not a rate`;
      return { problem, fix: 'Write rate(5 minutes), rate(1 hour) or rate(7 days)' };
    }
    const one = unit.replace(/s$/, '');
    const right = count === '1' ? one : `${one}s`;
    if (unit === right) return undefined;
    return { problem: `'${expression}' has the wrong unit`, fix: `Write rate(${count} ${right})` };
  }
  const fields = /^cron\((.*)\)$/.exec(expression)?.[1]?.trim().split(/\s+/) ?? [];
  const fix =
    'Write six fields: minutes, hours, day of month, month, day of week, year, one of the days as ?, such as cron(0 3 * * ? *)';
  if (fields.length !== 6) {
    return { problem: `'${expression}' has ${fields.length} fields`, fix };
  }
  if ([fields[2], fields[4]].filter((field) => field === '?').length !== 1) {
    return { problem: `'${expression}' has a day of month and a day of week, or neither`, fix };
  }
  const impossible = impossibleField(fields);
  return impossible ? { problem: `'${expression}': ${impossible}`, fix } : undefined;
}

/**
 * What CreateModel would refuse of an image's address.
 * @param region where the model is; undefined if synthesis does not know
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html (Image)
 */
export function imageProblem(uri: string, region: string | undefined): Problem {
  if (uri.length > 255) return { problem: 'longer than 255 characters', fix: 'Use a shorter tag' };
  const image = parseEcrImage(uri);
  if (!image) {
    return {
      problem: `'${uri}' is not an image of a private ECR repository`,
      fix: 'Push it to one: ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME:TAG, in China .amazonaws.com.cn',
    };
  }
  if (region === undefined || image.region === region) return undefined;
  return {
    problem: `the image is in ${image.region} and the model in ${region}; SageMaker pulls only from its own region`,
    fix: `Replicate the repository to ${region} and name the image there`,
  };
}

/**
 * What CreateTransformJob would refuse of requests at once and the largest payload.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html (MaxPayloadInMB)
 */
export function inFlightProblem(requests: number, megabytes: number): Problem {
  const product = requests * megabytes;
  if (product <= MAX_MB_IN_FLIGHT) return undefined;
  return {
    problem: `${requests} requests at once of ${megabytes} MB are ${product} MB, and SageMaker takes ${MAX_MB_IN_FLIGHT}`,
    fix: `Give maxConcurrentTransforms ${Math.max(1, Math.floor(MAX_MB_IN_FLIGHT / megabytes))}, or a smaller maxPayloadInMB`,
  };
}

/**
 * A certificate that a regional API of a region cannot use.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-regional-api-custom-domain-create.html
 */
export function certificateProblem(own: string | undefined, region: string): Problem {
  if (own === region) return undefined;
  return {
    problem: `a certificate of ${own}, and the API is in ${region}`,
    fix: `Request one in ${region} for the same name`,
  };
}

/** Tokens that are needed and not described, or the other way round. */
export function tokenProblem(auth: string, jwt: object | undefined): Problem {
  if (auth === 'jwt' && !jwt) {
    return { problem: 'missing', fix: "Give 'issuer' and 'audience' of the tokens" };
  }
  if (auth !== 'jwt' && jwt) {
    return { problem: `given with auth '${auth}'`, fix: "Leave it out, or give auth: 'jwt'" };
  }
  return undefined;
}
