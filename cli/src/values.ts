/** Values of options whose form is known, checked before any work begins. */
import { BUCKET, INSTANCE_TYPE } from '@sagemaker-tfs/batch';
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';

/** A form: how to tell it, and what to say of what does not have it. */
interface Form {
  readonly fits: (text: string) => boolean;
  readonly like: string;
  /** What is wrong with a text; undefined if that cannot be said. */
  readonly fault?: (text: string) => string | undefined;
}

const TYPE: Form = {
  fits: (text) => new RegExp(INSTANCE_TYPE).test(text),
  like: 'an instance type such as ml.g4dn.xlarge',
};

/** A positional argument, or an option, that names a local file or a place in S3. */
const SOURCE: Form = {
  // Other faults are S3's to tell: buckets from before March 2018 may have up to 255 characters, capitals and underscores.
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  fits: (text) => !/^s3:\/\/[^/]{0,2}(\/|$)/.test(text),
  like: 'an S3 URI such as s3://bucket/folder/',
  fault: bucketFault,
};

/** By what stands in the option's brackets, `--url <url>`, or by its name. */
const FORMS: Readonly<Record<string, Form>> = {
  '<url>': {
    fits: (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
    like: 'an http or https URL such as http://127.0.0.1:8080',
  },
  '<s3 uri>': {
    fits: (text) => text.startsWith('s3://') && bucketFault(text) === undefined,
    like: 'an S3 URI such as s3://bucket/folder/',
    fault: (text) => (text.startsWith('s3://') ? bucketFault(text) : undefined),
  },
  '<source>': SOURCE,
  '<region>': {
    fits: (text) => /^[a-z]{2,4}(-[a-z]+)+-\d+$/.test(text),
    like: 'a region such as eu-central-1',
  },
  '<arn>': {
    fits: (text) => /^arn:[a-z0-9-]+:[a-z0-9-]+:/.test(text),
    like: 'an ARN such as arn:aws:iam::123456789012:role/name',
  },
  '--instance-type': TYPE,
  '--fallback-instance-type': TYPE,
};

/** Makes every option and source of a command and of its verbs refuse values of another form: exit status 2. */
export function checkValues(command: Command): void {
  for (const argument of command.registeredArguments)
    if (!argument.variadic) check(argument, SOURCE);
  for (const option of command.options) {
    const form = FORMS[/<.*>/.exec(option.flags)?.[0] ?? ''] ?? FORMS[option.long ?? ''];
    if (form) check(option, form);
  }
  for (const verb of command.commands) checkValues(verb);
}

function check(given: Option | Argument, { fits, like, fault }: Form): void {
  const parse = given.parseArg;
  given.argParser((text: string, previous: unknown) => {
    if (!fits(text)) {
      const why = fault?.(text);
      throw new InvalidArgumentError(`${why ? `${why} ` : ''}Give ${like}.`);
    }
    return parse ? parse(text, previous) : text;
  });
}

/** What S3's rules have against the bucket of a URI. */
function bucketFault(uri: string): string | undefined {
  const bucket = uri.slice('s3://'.length).split('/', 1)[0] ?? '';
  if (bucket === '') return 'It names no bucket.';
  if (bucket.length < 3 || bucket.length > 63) {
    return `A bucket's name has 3 to 63 characters, and '${bucket}' has ${bucket.length}.`;
  }
  if (new RegExp(`^${BUCKET}$`).test(bucket)) return undefined;
  return `A bucket's name is of a-z, 0-9, dots and hyphens, with a letter or digit at both ends; '${bucket}' is not.`;
}
