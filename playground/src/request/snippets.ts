/** The request of the page as code that others can run. */
import { formatCustomAttributes } from '@sagemaker-tfs/client';
import type { PageRequest } from './ask.ts';

/** Bytes of a body that are written into the code; longer ones come from a file. */
const INLINE = 2_000;
/** Where deployed models answer; people put their own name. */
const ENDPOINT = 'my-endpoint';

/** Languages in the order of their tabs. */
export const LANGUAGES = ['curl', 'TypeScript', 'Python', 'boto3', 'aws CLI'] as const;

/** One of them. */
export type Language = (typeof LANGUAGES)[number];

/** The request in a language. `url` is this server's. */
export function snippet(language: Language, request: PageRequest, url: string): string {
  const text = inlineText(request);
  const parts = {
    request,
    accept: acceptOf(request),
    text,
    file: request.title,
    header: attributesHeader(request),
    url,
  };
  if (language === 'curl') return curl(parts);
  if (language === 'TypeScript') return typeScript(parts);
  if (language === 'Python') return python(parts);
  return language === 'boto3' ? boto3(parts) : awsCli(parts);
}

interface Parts {
  readonly request: PageRequest;
  /** Undefined leaves the choice to the runtime. */
  readonly accept: string | undefined;
  readonly text: string | undefined;
  readonly file: string;
  readonly header: string;
  readonly url: string;
}

/** A list of types is the page's own preference, nobody's wish. */
function acceptOf({ accept }: PageRequest): string | undefined {
  return accept.includes(',') ? undefined : accept;
}

/** Text that stands in the code; undefined if the code reads the body from a file. */
export function inlineText({ body, contentType }: PageRequest): string | undefined {
  if (!/json|csv/.test(contentType) || body.length > INLINE) return undefined;
  const text = new TextDecoder().decode(body);
  // Names of files for curl and for the AWS CLI.
  return /^(@|fileb?:)/.test(text) ? undefined : text;
}

/** Empty where the header would be longer than SageMaker takes: such a request has an error for its answer. */
function attributesHeader({ attributes }: PageRequest): string {
  try {
    return formatCustomAttributes(attributes);
  } catch {
    return '';
  }
}

/** For a POSIX shell. */
function shell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function curl({ request, accept, text, file, header, url }: Parts): string {
  return [
    // Silent of progress alone: curl still reports a missing file.
    `curl --no-progress-meter ${url}/invocations`,
    `-H ${shell(`Content-Type: ${request.contentType}`)}`,
    ...(accept ? [`-H ${shell(`Accept: ${accept}`)}`] : []),
    ...(header ? [`-H ${shell(`X-Amzn-SageMaker-Custom-Attributes: ${header}`)}`] : []),
    `--data-binary ${text === undefined ? shell(`@${file}`) : shell(text)}`,
    ...(/npz|npy/.test(accept ?? '') ? ['-o answer.npz'] : []),
  ].join(' \\\n  ');
}

function typeScript({ request, accept, text, file, header, url }: Parts): string {
  const body = text === undefined ? `readFileSync(${JSON.stringify(file)})` : JSON.stringify(text);
  return [
    ...(text === undefined ? ["import { readFileSync } from 'node:fs';"] : []),
    "import { predict } from 'sagemaker-tfs/client';",
    '',
    `// On SageMaker: { endpointName: '${ENDPOINT}' }`,
    `const answer = await predict({ url: '${url}' }, ${body}, {`,
    `  contentType: ${JSON.stringify(request.contentType)},`,
    ...(accept ? [`  accept: ${JSON.stringify(accept)},`] : []),
    ...(header ? [`  customAttributes: ${JSON.stringify(header)},`] : []),
    '});',
    /npz|npy/.test(accept ?? '') ? 'console.log(answer.tensors());' : 'console.log(answer.text());',
  ].join('\n');
}

function pythonBody(text: string | undefined, file: string): string {
  return text === undefined
    ? `open(${JSON.stringify(file)}, "rb").read()`
    : `${JSON.stringify(text)}.encode()`;
}

function python({ request, accept, text, file, header, url }: Parts): string {
  const entry = (name: string, value: string) => `    "${name}": ${JSON.stringify(value)},`;
  return [
    'from urllib.error import HTTPError',
    'from urllib.request import Request, urlopen',
    '',
    'headers = {',
    entry('Content-Type', request.contentType),
    ...(accept ? [entry('Accept', accept)] : []),
    ...(header ? [entry('X-Amzn-SageMaker-Custom-Attributes', header)] : []),
    '}',
    `body = ${pythonBody(text, file)}`,
    'try:',
    `    answer = urlopen(Request("${url}/invocations", body, headers)).read()`,
    'except HTTPError as error:',
    '    raise SystemExit(error.read().decode())',
    /npz|npy/.test(accept ?? '')
      ? 'open("answer.npz", "wb").write(answer)'
      : 'print(answer.decode())',
  ].join('\n');
}

function boto3({ request, accept, text, file, header }: Parts): string {
  return [
    'import boto3',
    '',
    'reply = boto3.client("sagemaker-runtime").invoke_endpoint(',
    `    EndpointName="${ENDPOINT}",`,
    `    ContentType=${JSON.stringify(request.contentType)},`,
    ...(accept ? [`    Accept=${JSON.stringify(accept)},`] : []),
    ...(header ? [`    CustomAttributes=${JSON.stringify(header)},`] : []),
    `    Body=${pythonBody(text, file)},`,
    ')',
    'print(reply["Body"].read())',
  ].join('\n');
}

function awsCli({ request, accept, text, file, header }: Parts): string {
  return [
    'aws sagemaker-runtime invoke-endpoint',
    `--endpoint-name ${ENDPOINT}`,
    `--content-type ${shell(request.contentType)}`,
    ...(accept ? [`--accept ${shell(accept)}`] : []),
    ...(header ? [`--custom-attributes ${shell(header)}`] : []),
    text === undefined
      ? `--body ${shell(`fileb://${file}`)}`
      : `--cli-binary-format raw-in-base64-out --body ${shell(text)}`,
    'answer',
  ].join(' \\\n  ');
}
