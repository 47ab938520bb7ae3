import type { S3Client } from '@aws-sdk/client-s3';
import type { Baseline, Coverage, Drift } from '@sagemaker-tfs/container/captures';
import type { Command } from 'commander';
import type { VariantComparison } from '../captures/compare.ts';
import type { ChosenCaptures } from '../captures/source.ts';
import { CommandError, cannotRead } from '../errors.ts';
import { printResult, table } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { whileWaiting } from '../output/progress.ts';
import { remark } from '../output/quiet.ts';
import { positive, wholeNumber } from './options.ts';

interface Options {
  readonly variant?: string;
  readonly hours?: number;
  readonly maxCaptures: number;
  readonly region?: string;
  readonly json?: true;
}

interface DriftOptions extends Options {
  readonly baseline: string;
  readonly threshold: number;
}

interface CompareOptions extends Omit<Options, 'variant'> {
  readonly production: string;
  readonly shadow: string;
  readonly absolute: number;
  readonly relative: number;
}

const MAX = 10_000;
/** Features of a list in a text; JSON has more. */
const MAX_LISTED = 50;

/** `captures`: what an endpoint's data capture shows of drift, and of a shadow variant. */
export function addCaptures(program: Command): void {
  const group = program
    .command('captures')
    .description(
      "look into an endpoint's data capture: drift of inputs and outputs, and a shadow's answers",
    );
  group.exitOverride();
  common(group.command('baseline'))
    .description('distributions of inputs and outputs, to compare later captures with')
    .requiredOption('--out <file>', 'where the baseline goes')
    .option('--variant <name>', 'captures of this variant alone')
    .action(baseline);
  common(group.command('drift'))
    .description(
      'population stability of each input and output; exit status 1 if one has drifted or no longer comes',
    )
    .requiredOption('--baseline <file>', 'what captures baseline wrote')
    .option('--threshold <index>', 'stability index that counts as drift', positive, 0.2)
    .option('--variant <name>', 'captures of this variant alone')
    .action(drift);
  common(group.command('compare'))
    .description('how often a shadow variant answers as the production variant does')
    .requiredOption('--production <name>', 'the variant whose answers callers get')
    .requiredOption('--shadow <name>', 'the other')
    .option('--absolute <number>', 'numbers that differ by less agree', positive, 1e-5)
    .option('--relative <number>', 'and by less than this part of the first', positive, 1e-3)
    .action(compare);
}

function common(verb: Command): Command {
  return verb
    .argument('<source>', 'a .jsonl file, a folder, or s3://bucket/prefix/')
    .option('--hours <number>', 'files of S3 of the last hours alone', positive)
    .option('--max-captures <number>', 'captures to read', wholeNumber(), MAX)
    .option('--region <region>', 'default: the one of the environment')
    .option('--json', 'print the result as JSON')
    .exitOverride();
}

/** Runs `work` with a client of S3, made when the source needs one. */
async function withS3<T>(
  { region }: Options,
  work: (s3: () => S3Client) => Promise<T>,
): Promise<T> {
  const { withAws } = await import('../batch/aws/clients.ts');
  return whileWaiting('Reading captures', () =>
    withAws(region, (clients) => work(() => clients.s3)),
  );
}

async function gather(source: string, options: Options, before?: Baseline) {
  const { chooseCaptures } = await import('../captures/source.ts');
  const { gatherer } = await import('@sagemaker-tfs/container/captures');
  const { hours, variant, maxCaptures } = options;
  const all = gatherer(before);
  const coverage = await withS3(options, async (s3) => {
    const chosen = await chooseCaptures(s3, { source, hours, variant, maxCaptures });
    for await (const capture of chosen.captures()) all.add(capture);
    return chosen.coverage();
  });
  const gathered = all.gathered();
  for (const [type, count] of gathered.sizesOnly) {
    remark(`${count} bodies of ${printable(type)}: only their size is known`);
  }
  return { gathered, coverage };
}

async function baseline(
  source: string,
  options: Options & { readonly out: string },
): Promise<void> {
  const { baselineOf } = await import('@sagemaker-tfs/container/captures');
  const { requirePlace } = await import('../output/place.ts');
  const { writeWhole } = await import('../output/write-whole.ts');
  await requirePlace('--out', options.out);
  const { gathered, coverage } = await gather(source, options);
  const { records, unreadable, leftOut } = gathered;
  if (gathered.values.size === 0) {
    const message = `no value could be read of ${records} captures of ${source}: ${unreadable} bodies are not what their media type says. Look at what callers send.`;
    throw new CommandError('CAPTURE_INVALID', message);
  }
  const made = baselineOf(gathered);
  await writeWhole(options.out, `${JSON.stringify(made, null, 1)}\n`);
  const features = Object.keys(made.features);
  printResult(
    options.json,
    { out: options.out, records, unreadable, coverage, features, leftOut },
    () =>
      [
        `${features.length} features of ${coverageText(coverage)}, ${unreadable} bodies unreadable: ${options.out}`,
        ...leftOutLines(leftOut),
      ].join('\n'),
  );
}

async function drift(source: string, options: DriftOptions): Promise<void> {
  const { readFile } = await import('node:fs/promises');
  const { driftOf, parseBaseline } = await import('@sagemaker-tfs/container/captures');
  const text = await readFile(options.baseline, 'utf8').catch(cannotRead(options.baseline));
  const before = parse(() => parseBaseline(text), options.baseline);
  const { gathered, coverage } = await gather(source, options, before);
  const found = { ...driftOf(before, gathered, options.threshold), coverage };
  if (!options.json || found.drifted === 0)
    printResult(options.json, found, () => driftText(found));
  if (found.drifted > 0) throw driftedError(found);
}

/** The error for features that have drifted or are gone. */
function driftedError(found: Covered<Drift>): CommandError {
  const { features, gone, records, unreadable } = found;
  const names = features.filter(({ drifted }) => drifted).map(({ feature }) => feature);
  const changes = [
    ...(names.length > 0 ? [`${names.length} have drifted: ${listed(names, 5)}`] : []),
    ...(gone.length > 0 ? [`${gone.length} no longer come: ${listed(gone, 5)}`] : []),
  ];
  const all = features.length + gone.length;
  const message =
    features.length > 0
      ? `of ${all} features ${changes.join('; ')}`
      : `nothing could be compared: none of ${all} features comes in ${records} captures, ${unreadable} bodies are unreadable`;
  const fix = 'Look at what callers send, or make a new baseline.';
  return new CommandError('DRIFTED', `${message}. ${fix}`, { details: found });
}

function parse<T>(work: () => T, file: string): T {
  try {
    return work();
  } catch {
    const message = `${file} is no baseline. Write one with captures baseline.`;
    throw new CommandError('CAPTURE_INVALID', message);
  }
}

async function compare(source: string, options: CompareOptions): Promise<void> {
  const { chooseCaptures } = await import('../captures/source.ts');
  const { compareVariants } = await import('../captures/compare.ts');
  const { production, shadow, hours, maxCaptures, absolute, relative } = options;
  const found = await withS3(options, async (s3) => {
    const of = (variant: string): Promise<ChosenCaptures> =>
      chooseCaptures(s3, { source, hours, maxCaptures, variant, inOrder: true });
    const [one, other] = [await of(production), await of(shadow)];
    const tolerance = { absolute, relative };
    const compared = await compareVariants(one.captures(), other.captures(), tolerance);
    return { ...compared, coverage: { production: one.coverage(), shadow: other.coverage() } };
  });
  if (found.pairs === 0) throw nothingCompared(found, options);
  printResult(options.json, found, () => comparisonText(found));
}

function nothingCompared(found: VariantComparison, options: CompareOptions): CommandError {
  const { production, shadow } = found;
  return new CommandError(
    'CAPTURE_INVALID',
    `nothing was compared: of ${production} captures of ${options.production} and ${shadow} of ${options.shadow} no two are of one request. Check that both variants capture inputs and outputs, and give more --hours or --max-captures.`,
    { details: found },
  );
}

/** How many captures of how many, and of how many hours. */
function coverageText({ captures, of, exact, hours, ofHours }: Coverage): string {
  if (captures === of) return `${captures} captures`;
  const places = hours === ofHours ? `all ${hours}` : `${hours} of ${ofHours}`;
  return `${captures} of ${exact ? '' : 'about '}${of} captures (${places} hours of variants)`;
}

type Covered<T, C = Coverage> = T & { readonly coverage: C };

function driftText(found: Covered<Drift>): string {
  const { coverage, unreadable, features, gone, unknown, leftOut } = found;
  const rows = features.map(({ feature, index, noise, count, drifted }) => [
    ...[feature, index.toFixed(3), noise.toFixed(3), count],
    drifted ? 'drifted' : '',
  ]);
  return [
    table(['feature', 'stability index', 'chance', 'values', 'verdict'], rows),
    `${coverageText(coverage)}, ${unreadable} bodies unreadable`,
    ...(gone.length > 0 ? [`gone: ${listed(gone, MAX_LISTED)}`] : []),
    ...(unknown.length > 0 ? [`not in the baseline: ${listed(unknown, MAX_LISTED)}`] : []),
    ...leftOutLines(leftOut),
  ].join('\n');
}

/** The first names on one line: they are what callers sent. */
function listed(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).map(printable).join(', ')}${more}`;
}

function leftOutLines(values: number): string[] {
  return values > 0 ? [`${values} values of more features were left out`] : [];
}

function comparisonText(
  found: Covered<VariantComparison, Readonly<Record<'production' | 'shadow', Coverage>>>,
): string {
  const { coverage, pairs, agreement, largestDifference, disagreements, leftOut } = found;
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
  return [
    `${pairs} pairs of ${coverageText(coverage.production)} and ${coverageText(coverage.shadow)}`,
    `${percent(agreement.share)} agree (95% interval ${percent(agreement.low)} to ${percent(agreement.high)})`,
    `largest difference ${largestDifference}`,
    ...Object.entries(disagreements).map(
      ([where, count]) => `${printable(where)}: ${count} disagree`,
    ),
    ...(leftOut > 0 ? [`${leftOut} captures were left out: the answers before have 1 GiB`] : []),
  ].join('\n');
}
