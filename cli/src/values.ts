/** Values of options whose form is known, checked before any work begins. */
import { type Command, InvalidArgumentError, type Option } from 'commander';

/** A form: how to tell it, and what to say of what does not have it. */
interface Form {
  readonly fits: (text: string) => boolean;
  readonly like: string;
}

const INSTANCE_TYPE: Form = {
  fits: (text) => /^ml\.[a-z0-9-]+\.[a-z0-9-]+$/.test(text),
  like: 'an instance type such as ml.g4dn.xlarge',
};

/** By what stands in the option's brackets, `--url <url>`, or by its name. */
const FORMS: Readonly<Record<string, Form>> = {
  '<url>': {
    fits: (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
    like: 'an http or https URL such as http://127.0.0.1:8080',
  },
  '<s3 uri>': {
    fits: (text) => /^s3:\/\/[a-z0-9][a-z0-9.-]+(\/|$)/.test(text),
    like: 'an S3 URI such as s3://bucket/folder/',
  },
  '<region>': {
    fits: (text) => /^[a-z]{2,4}(-[a-z]+)+-\d+$/.test(text),
    like: 'a region such as eu-central-1',
  },
  '<arn>': {
    fits: (text) => /^arn:[a-z0-9-]+:[a-z0-9-]+:/.test(text),
    like: 'an ARN such as arn:aws:iam::123456789012:role/name',
  },
  '--instance-type': INSTANCE_TYPE,
  '--fallback-instance-type': INSTANCE_TYPE,
};

/** Makes every option of a command and of its verbs refuse values of another form: exit status 2. */
export function checkValues(command: Command): void {
  for (const option of command.options) {
    const form = FORMS[/<.*>/.exec(option.flags)?.[0] ?? ''] ?? FORMS[option.long ?? ''];
    if (form) check(option, form);
  }
  for (const verb of command.commands) checkValues(verb);
}

function check(option: Option, { fits, like }: Form): void {
  const parse = option.parseArg;
  option.argParser((text: string, previous: unknown) => {
    if (!fits(text)) throw new InvalidArgumentError(`Give ${like}.`);
    return parse ? parse(text, previous) : text;
  });
}
