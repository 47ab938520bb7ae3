import type { Answer } from '@sagemaker-tfs/client';
import type { Command } from 'commander';
import { cannotRead, usageError } from '../errors.ts';
import { ms, printStyled } from '../output/print.ts';
import { printableJson } from '../output/printable.ts';
import { whileWaiting } from '../output/progress.ts';
import { remark } from '../output/quiet.ts';
import { positive, wholeNumber } from './options.ts';
import { LOCAL_RUNTIME, type TargetOptions, targetOf, withHint } from './target.ts';

interface InvokeOptions extends TargetOptions {
  readonly contentType?: string;
  readonly accept?: string;
  readonly customAttributes?: string;
  readonly signature?: string;
  readonly model?: string;
  readonly wake?: number;
  readonly timeout?: number;
  readonly out?: string;
  readonly json?: true;
}

/** AWS speaks of several minutes: docs/inference-components.md. */
const WAKE_SECONDS = 900;

/** `invoke`: sends a file to a runtime or an endpoint and shows the answer. */
export function addInvoke(program: Command): void {
  program
    .command('invoke')
    .description('send a file to a serving runtime or a SageMaker endpoint and print the answer')
    .argument('<file>', 'the request body; - reads standard input')
    .option('--url <url>', `the runtime (default: ${LOCAL_RUNTIME})`)
    .option('--endpoint <name>', 'a SageMaker endpoint instead')
    .option('--region <region>', "the endpoint's region (default: AWS_REGION or the profile's)")
    .option('--variant <name>', "one of the endpoint's production variants")
    .option('--component <name>', "one of the endpoint's inference components")
    .option(
      '--wake <seconds>',
      'wait as long for a component that sleeps, asking every 15 s (default: 900)',
      wholeNumber(0),
    )
    .option('--timeout <seconds>', 'how long the answer may take (default: 70)', positive)
    .option('--content-type <type>', "media type of the file (default: by its name's ending)")
    .option('--accept <type>', 'media type of the answer')
    .option(
      '--custom-attributes <text>',
      'for example tfs-transport=rest,tfs-outputs=probabilities',
    )
    .option('--signature <name>', 'signature to run (default: serving_default)')
    .option('--model <name>', 'one of several models in the container')
    .option('--out <file>', 'write the answer to a file')
    .option(
      '--json',
      'print status, media type, custom attributes and body (base64 if binary) as JSON',
    )
    .action(invoke);
}

async function invoke(file: string, options: InvokeOptions): Promise<void> {
  const target = targetOf(options);
  const { predict } = await import('@sagemaker-tfs/client');
  const { requireMediaType } = await import('../serving/media-type.ts');
  const contentType = options.contentType ?? requireMediaType(file);
  const body = await readBody(file);
  const { requirePlace } = await import('../output/place.ts');
  const { writeWhole } = await import('../output/write-whole.ts');
  if (options.out) await requirePlace('--out', options.out);
  const from = performance.now();
  const customAttributes = await attributesOf(options);
  const who = 'url' in target ? target.url : target.endpointName;
  const answer = await whileWaiting(`Waiting for ${who}`, () =>
    predict(target, body, {
      contentType,
      ...(options.accept && { accept: options.accept }),
      customAttributes,
      ...(options.timeout !== undefined && { timeoutSeconds: options.timeout }),
      ...(options.variant && { targetVariant: options.variant }),
      ...(options.component && {
        inferenceComponent: options.component,
        wakeSeconds: options.wake ?? WAKE_SECONDS,
      }),
    }),
  ).catch((error: unknown) => {
    throw withHint(nameOption(error), target);
  });
  const milliseconds = performance.now() - from;
  if (options.out) await writeWhole(options.out, answer.bytes);
  await print(answer, milliseconds, options);
}

/** The attributes that the options name, behind those given as text. @throws CommandError USAGE if both name one */
async function attributesOf(options: InvokeOptions): Promise<string> {
  const { formatCustomAttributes, parseCustomAttributes } = await import('@sagemaker-tfs/client');
  const { customAttributes = '', signature, model } = options;
  const named = formatCustomAttributes({
    ...(signature !== undefined && { signature }),
    ...(model !== undefined && { modelName: model }),
  });
  const given = parseCustomAttributes(customAttributes);
  const twice = Object.keys(parseCustomAttributes(named)).find((name) => name in given);
  if (twice === undefined) return [customAttributes, named].filter(Boolean).join(',');
  throw usageError(
    `${twice} is given twice: as an option and in --custom-attributes. Leave one out.`,
  );
}

/** The client's own messages name its own options. */
function nameOption(error: unknown): unknown {
  if (error instanceof Error) {
    error.message = error.message
      .replace('raise timeoutSeconds', 'raise --timeout')
      .replace(
        'fewer outputs, raise maxAnswerBytes, or read it with predictStream',
        'fewer outputs',
      );
  }
  return error;
}

/** A file, or standard input for `-`. */
async function readBody(file: string): Promise<Buffer> {
  if (file === '-') return (await import('node:stream/consumers')).buffer(process.stdin);
  const { readFile } = await import('node:fs/promises');
  return readFile(file).catch(cannotRead(file));
}

/** For people in a terminal a view of the answer; a pipe gets the body as it came. */
async function print(answer: Answer, milliseconds: number, options: InvokeOptions): Promise<void> {
  const { status, contentType, customAttributes, bytes } = answer;
  const isText = /json|text|csv/.test(contentType);
  if (options.json) {
    const body = isText ? answer.text() : Buffer.from(bytes).toString('base64');
    const headers = { 'content-type': contentType };
    process.stdout.write(
      `${printableJson({ status, milliseconds, headers, customAttributes, body })}\n`,
    );
    return;
  }
  if (process.stdout.isTTY && !options.out) {
    const { answerLines } = await import('../terminal/answer-lines.ts');
    printStyled((style) => answerLines(answer, milliseconds, style));
    return;
  }
  remark(`${status} ${contentType}, ${bytes.length} bytes in ${ms(milliseconds)} ms`);
  if (options.out) remark(`written to ${options.out}`);
  else process.stdout.write(bytes);
}
