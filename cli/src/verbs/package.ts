import { resolve } from 'node:path';
import type {
  ContentOptions,
  LayOutResult,
  PackageOptions,
  PackageResult,
  PackagingProgress,
  SampleSource,
  VerifyReport,
} from '@sagemaker-tfs/model-packaging';
import { DEFAULT_LEVEL } from '@sagemaker-tfs/model-packaging/level';
import { type Command, Option } from 'commander';
import { usageError } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import { printResult, printStyled } from '../output/print.ts';
import { lateProgress, type Progress, sayStep } from '../output/progress.ts';
import { jsonValue, keyValue, list, wholeNumber } from './options.ts';

interface PackageVerbOptions {
  readonly out?: string;
  readonly uncompressed?: string;
  readonly bakedImage?: string;
  readonly baseImage?: string;
  readonly exposeModelServer?: true;
  readonly model?: Record<string, string>;
  readonly handler?: string;
  readonly preprocess?: object;
  readonly postprocess?: object;
  readonly imageInput?: object;
  readonly warmup?: true | string[];
  readonly sample?: string[];
  readonly verify: boolean;
  readonly level?: number;
  readonly json?: true;
}

/** `package`: a SavedModel and a handler become `model.tar.gz`, an S3 prefix, or an image. */
export function addPackage(program: Command): void {
  program
    .command('package')
    .description('package models and a handler, and try the result out with real TensorFlow')
    .argument('[source]', 'a model directory, .tar.gz, .zip, .keras, .h5 or s3:// URI')
    .option(
      '--model <name=source>',
      'a model by name, instead of the source (repeatable)',
      keyValue,
    )
    .option('--out <file>', 'the archive, model.tar.gz')
    .option(
      '--uncompressed <folder>',
      'lay out an S3 prefix instead: no gzip, faster endpoint start',
    )
    .option('--baked-image <folder>', 'write the build context of an image that holds the model')
    .option('--base-image <name>', 'serving image below a baked image')
    .option('--expose-model-server', "serve TensorFlow Serving's own ports from a baked image")
    .option('--handler <file>', 'TypeScript or JavaScript pre/post-processing handler')
    .option('--preprocess <json>', 'how image bytes become the input, as JSON or @file', jsonValue)
    .option('--postprocess <json>', 'what of the outputs is answered, as JSON or @file', jsonValue)
    .option(
      '--image-input <json>',
      'wrap the graph to take image bytes, as JSON or @file',
      jsonValue,
    )
    .option('--warmup [samples...]', 'write warm-up requests, from samples or made up')
    .option(
      '--sample <file>',
      'try the result with this request body; or JSON with file, contentType, accept and customAttributes (repeatable)',
      list,
    )
    .addOption(new Option('--no-verify', 'do not run the packaged model'))
    .option('--level <number>', `gzip level, 0 to 9 (default: ${DEFAULT_LEVEL})`, wholeNumber(0, 9))
    .option('--json', 'print the result as JSON')
    .action(packageVerb);
}

async function packageVerb(source: string | undefined, options: PackageVerbOptions): Promise<void> {
  requireOneTarget(options);
  refuseUnused(options);
  const bar = lateProgress('bytes');
  const content = contentOf(source, options, bar);
  const target = options.out ?? options.uncompressed ?? options.bakedImage ?? '';
  const { sampleSources } = await import('../serving/sample-sources.ts');
  const samples = sampleSources(options.sample);
  let verification: VerifyReport | undefined;
  const check = async (path: string) => {
    bar.stop();
    // What does not work must not be there to be deployed.
    if (options.verify) verification = await verify(path, target, samples, content.signal);
  };
  try {
    if (options.out) {
      const packaged = await writeArchive({ ...content, out: options.out, check }, options.level);
      return await printArchive(packaged, verification, options.json);
    }
    const { directory, manifest } = await writeDirectory({ ...content, check }, options);
    const result = { directory, fingerprint: manifest?.fingerprint, verification };
    await printDirectory(result, options.json);
  } finally {
    bar.stop();
  }
}

function requireOneTarget({ out, uncompressed, bakedImage, baseImage }: PackageVerbOptions): void {
  const targets = [out, uncompressed, bakedImage].filter((target) => target !== undefined);
  if (targets.length !== 1) {
    throw usageError(
      'exactly one output is needed. Give --out FILE, --uncompressed FOLDER or --baked-image FOLDER.',
    );
  }
  if (targets[0] === '') throw usageError('the name of the output is empty. Give one.');
  if ((bakedImage === undefined) !== (baseImage === undefined)) {
    throw usageError('--baked-image and --base-image go together. Give both or neither.');
  }
}

/** Refuses options that would change nothing: whoever sets one counts on it. */
function refuseUnused({ out, verify, sample, level, ...options }: PackageVerbOptions): void {
  if (sample && !verify) {
    throw usageError('--sample cannot be used with --no-verify. Remove one.');
  }
  if (level !== undefined && out === undefined) {
    throw usageError('--level applies only to an archive. Add --out.');
  }
  if (options.exposeModelServer && options.bakedImage === undefined) {
    throw usageError('--expose-model-server is for an image. Give it with --baked-image.');
  }
}

function contentOf(
  source: string | undefined,
  options: PackageVerbOptions,
  bar: Progress,
): ContentOptions {
  const { handler, preprocess, postprocess, imageInput, warmup } = options;
  const models = Object.entries(options.model ?? {}).map(([name, from]) => ({
    name,
    source: from,
  }));
  return {
    ...(source !== undefined && { source }),
    ...(models.length > 0 && { models }),
    ...(handler !== undefined && { handler }),
    ...(preprocess && { preprocess }),
    ...(postprocess && { postprocess }),
    ...(imageInput && { imageInput }),
    ...(warmup && { warmup }),
    signal: interruptSignal(),
    onStep: sayStep,
    onProgress({ step, done, total }: PackagingProgress) {
      bar.total(total);
      bar.update(done, step);
    },
  };
}

async function writeArchive(
  options: PackageOptions,
  level: number | undefined,
): Promise<Omit<PackageResult, 'manifest'>> {
  const { packageModel } = await import('@sagemaker-tfs/model-packaging');
  const { manifest, ...packaged } = await packageModel({
    ...options,
    ...(level !== undefined && { level }),
  });
  return packaged;
}

async function printArchive(
  packaged: Omit<PackageResult, 'manifest'>,
  verification: VerifyReport | undefined,
  json: true | undefined,
): Promise<void> {
  if (process.stdout.isTTY && !json) {
    const { packageLines } = await import('../terminal/package-lines.ts');
    printStyled((style) => packageLines(packaged, verification, style));
    return;
  }
  const { formatBytes } = await import('@sagemaker-tfs/model-packaging');
  const tried = await triedText(verification);
  printResult(json, { ...packaged, verification }, () =>
    [
      `${packaged.path}: ${formatBytes(packaged.bytes)}${packaged.unchanged ? ', unchanged' : ''}`,
      `sha256       ${packaged.sha256}`,
      `fingerprint  ${packaged.fingerprint}`,
      tried,
    ].join('\n'),
  );
}

async function writeDirectory(
  content: ContentOptions & { readonly check: (path: string) => Promise<void> },
  { uncompressed, bakedImage, baseImage, exposeModelServer }: PackageVerbOptions,
): Promise<LayOutResult> {
  const { layOut, writeBakedImage } = await import('@sagemaker-tfs/model-packaging');
  const result =
    bakedImage === undefined
      ? await layOut(content, uncompressed as string, content)
      : await writeBakedImage({
          ...content,
          out: bakedImage,
          baseImage: baseImage as string,
          exposeModelServer: exposeModelServer === true,
        });
  return result;
}

interface WrittenDirectory {
  readonly directory: string;
  readonly fingerprint: string | undefined;
  readonly verification: VerifyReport | undefined;
}

async function printDirectory(result: WrittenDirectory, json: true | undefined): Promise<void> {
  const { directory, fingerprint, verification } = result;
  if (process.stdout.isTTY && !json) {
    const { folderLines } = await import('../terminal/package-lines.ts');
    printStyled((style) => folderLines(result, verification, style));
    return;
  }
  const tried = await triedText(verification);
  printResult(json, result, () => [directory, `fingerprint  ${fingerprint}`, tried].join('\n'));
}

async function triedText(verification: VerifyReport | undefined): Promise<string> {
  const { renderVerify } = await import('@sagemaker-tfs/model-packaging');
  return verification ? renderVerify(verification) : 'not verified';
}

/** The TensorFlow library is fetched if it is not here, as `serve` does. */
async function verify(
  path: string,
  out: string,
  samples: readonly SampleSource[] | undefined,
  signal: AbortSignal | undefined,
): Promise<VerifyReport> {
  const { LibTensorFlowError } = await import('@sagemaker-tfs/libtensorflow');
  const { libraryHere } = await import('../serving/library.ts');
  const { verifyWithRuntime } = await import('../serving/verify.ts');
  await libraryHere(signal).catch((cause: unknown) => {
    signal?.throwIfAborted();
    if (!(cause instanceof LibTensorFlowError)) throw cause;
    throw new LibTensorFlowError(
      cause.code,
      'trying the model out needs the TensorFlow library. Leave it out with --no-verify.',
      { cause },
    );
  });
  sayStep('loading the model with TensorFlow, and trying it out');
  return verifyWithRuntime(path, samples, {
    name: resolve(out),
    ...(signal && { signal }),
  });
}
