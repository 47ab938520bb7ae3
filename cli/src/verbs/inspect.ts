import { extname } from 'node:path';
import type { InspectReport, OpenOptions } from '@sagemaker-tfs/model-packaging';
import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import type { Command } from 'commander';
import { CommandError, cannotWrite, usageError } from '../errors.ts';
import { interruptSignal } from '../interrupt.ts';
import { commandName } from '../output/command-name.ts';
import { printResult, printStyled, table } from '../output/print.ts';
import { printableLines } from '../output/printable.ts';
import { sayStep } from '../output/progress.ts';
import { remark } from '../output/quiet.ts';
import { wrappedLine } from '../output/style.ts';
import { shownName, shownNames } from '../serving/shown-name.ts';

interface InspectOptions {
  readonly examples?: true;
  readonly variables?: true;
  readonly ops?: true;
  readonly writeSample?: string;
  readonly openapi?: true;
  readonly json?: true;
}

/** `inspect`: what a SavedModel says of itself, without TensorFlow. */
export function addInspect(program: Command): void {
  program
    .command('inspect')
    .description('signatures, dtypes and shapes of a SavedModel; more when asked for')
    .argument('<source>', 'a model directory, .tar.gz, .zip, .keras, .h5 or s3:// URI')
    .option('--examples', 'ready requests for each signature: curl, TypeScript, Python')
    .option('--variables', 'the variables with dtypes, shapes and sizes')
    .option('--ops', 'operations, functions, assets and tensor names of each graph')
    .option(
      '--write-sample <file>',
      'write a made-up request body in the form of the ending: .json, .npz, .npy, .png, .tfrecord',
    )
    .option('--openapi', 'print an OpenAPI 3.1 document of /invocations instead, as JSON')
    .option('--json', 'print everything as JSON')
    .action(inspect);
}

async function inspect(source: string, options: InspectOptions): Promise<void> {
  const opened = { signal: interruptSignal(), onStep: sayStep };
  if (options.openapi) return describe(source, options, opened);
  const { inspectModel, renderInspect } = await import('@sagemaker-tfs/model-packaging');
  const report = await inspectModel(source, opened);
  const { json, examples = false, variables = false, ops = false, writeSample } = options;
  const sections = { examples, variables, ops };
  const written = writeSample ? await sampleTo(writeSample, source, opened) : undefined;
  const isBrief = !Object.values(sections).some(Boolean);
  const text = (layout = {}) => renderInspect(titled(report, source), { ...sections, ...layout });
  if (json || !process.stdout.isTTY) printResult(json, report, () => text());
  else {
    printStyled((style) => {
      const wrap = (line: string) => wrappedLine(line, style.width);
      const lines = printableLines(text({ table, wrap })).split('\n');
      return isBrief ? [...lines, '', ...wrap(MORE).map(style.quiet)] : lines;
    });
  }
  if (written) remark(written);
}

async function describe(
  source: string,
  { openapi: _, json: __, ...others }: InspectOptions,
  opened: OpenOptions,
): Promise<void> {
  if (Object.keys(others).length > 0) {
    throw usageError(
      '--openapi prints one document and nothing else. Leave out the other options.',
    );
  }
  const { openApiOfSource } = await import('@sagemaker-tfs/model-packaging');
  const options = { ...opened, title: shownName(source) };
  printResult(true, await openApiOfSource(source, options), () => '');
}

/** The report with the name that `serve` shows for the only model. */
function titled(report: InspectReport, source: string): InspectReport {
  const nameOf = shownNames(report.models, source);
  return { ...report, models: report.models.map((one) => ({ ...one, name: nameOf(one.name) })) };
}

/** What a brief report in a terminal ends with. */
const MORE = '  More: --examples, --variables, --ops, --write-sample FILE, --json';

/**
 * Writes a made-up request to `file`, in the form that its ending names.
 * @returns how to send it
 * @throws CommandError NO_SAMPLE, OUTPUT_FAILED; USAGE for an ending that the model's requests do not come in
 */
async function sampleTo(file: string, source: string, opened: OpenOptions): Promise<string> {
  const { writeFile } = await import('node:fs/promises');
  const { sampleForms } = await import('@sagemaker-tfs/model-packaging');
  const { DEFAULT_SIGNATURE } = await import('@sagemaker-tfs/tensors');
  const forms = await sampleForms(source, opened);
  if (forms.size === 0) {
    throw new CommandError(
      'NO_SAMPLE',
      `no request can be made up for ${source}. Its signatures show what it takes: write one by hand.`,
    );
  }
  const make = forms.get(extname(file).slice(1).toLowerCase());
  if (!make) {
    const allowed = [...forms.keys()].map((ending) => `.${ending}`).join(', ');
    const ending = extname(file) === '' ? 'no ending' : `the ending ${extname(file)}`;
    throw usageError(
      `--write-sample ${file} has ${ending}, which no made-up request of this model has. Give a name that ends in one of ${allowed}.`,
    );
  }
  const { body, signature } = make();
  await writeFile(file, body).catch((cause: unknown) => {
    throw cannotWrite(file, cause);
  });
  const named = signature === DEFAULT_SIGNATURE ? '' : ` --signature ${shellWord(signature)}`;
  return `written to ${file}; ${commandName()} invoke ${shellWord(file)}${named} sends it`;
}
