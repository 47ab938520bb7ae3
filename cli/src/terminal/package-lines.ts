/** What `package` shows to people: each step ticked, the answer that was given, and the next command. */
import { isAbsolute, relative } from 'node:path';
import {
  formatMs,
  type LayOutResult,
  type PackageResult,
  untried,
  type VerifyReport,
} from '@sagemaker-tfs/model-packaging';
import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import { commandName } from '../output/command-name.ts';
import { printable } from '../output/printable.ts';
import { behind, flowed, type Style, shortBytes } from '../output/style.ts';

/** Columns of a step's name. */
const STEP = 9;

/** A ticked step. */
function step(name: string, facts: readonly string[], style: Style, isDone = true): string[] {
  const start = `${isDone ? style.good('✓') : style.bad('✗')} ${name.padEnd(STEP)} `;
  return flowed(facts, style.width - STEP - 3).flatMap((line, at) =>
    behind(at === 0 ? start : ' '.repeat(STEP + 3), line, style.width),
  );
}

/** The archive, what was tried, and what to do with it. */
export function packageLines(
  packaged: Pick<PackageResult, 'path' | 'bytes' | 'sha256' | 'fingerprint' | 'unchanged'>,
  verification: VerifyReport | undefined,
  style: Style,
): string[] {
  const { bytes, sha256, fingerprint, unchanged } = packaged;
  const path = near(packaged.path);
  return [
    ...step(unchanged ? 'unchanged' : 'packed', [path, shortBytes(bytes)], style),
    ...triedLines(verification, style),
    '',
    // To copy, so never cut.
    printable(`  sha256       ${sha256}`),
    printable(`  fingerprint  ${fingerprint}`),
    '',
    printable(`  Next  ${commandName()} serve ${shellWord(path)}`),
  ];
}

/** A folder that was written: an S3 prefix, or the build context of an image. */
export function folderLines(
  { directory, fingerprint }: Pick<LayOutResult, 'directory'> & { fingerprint: string | undefined },
  verification: VerifyReport | undefined,
  style: Style,
): string[] {
  return [
    ...step('written', [near(directory)], style),
    ...triedLines(verification, style),
    ...(fingerprint ? ['', printable(`  fingerprint  ${fingerprint}`)] : []),
  ];
}

/** What `verify` found. */
export function verifyLines(report: VerifyReport, style: Style): string[] {
  return triedLines(report, style);
}

/** Relative where it lies below the working directory. */
function near(path: string): string {
  const way = relative(process.cwd(), path);
  return way.startsWith('..') || isAbsolute(way) ? path : way;
}

function triedLines(report: VerifyReport | undefined, style: Style): string[] {
  if (!report) return step('verified', ['no'], style, false);
  const { versions, requests } = report;
  const signatures = versions.flatMap((version) => version.signatures);
  const ran = signatures.filter(({ firstMs }) => firstMs !== undefined);
  const answered = requests.filter(({ status }) => status < 400);
  const [first] = answered;
  const times = ran.length === 1 && ran[0]?.medianMs ? [`median ${formatMs(ran[0].medianMs)}`] : [];
  const text = (of: string) => behind('  ', of, style.width);
  const notes = [
    ...signatures.filter(({ note }) => note).map(({ signature, note }) => `${signature}: ${note}`),
    ...requests.map(({ note }) => note),
    ...untried(report),
  ].filter(Boolean);
  return [
    ...versions.flatMap(({ model, version, loadMs }) =>
      step('loaded', [`${model} v${version}`, formatMs(loadMs)], style),
    ),
    ...step(
      'ran',
      [of(ran, signatures, 'signature'), ...times],
      style,
      ran.length === signatures.length,
    ),
    ...step(
      'answered',
      [of(answered, requests, 'request'), ...(first ? [formatMs(first.latencyMs)] : [])],
      style,
      requests.length > 0 && answered.length === requests.length,
    ),
    ...answered.flatMap(({ sample, preview }) => {
      const whose = answered.length > 1 ? `${near(sample)}: ` : '';
      return preview === '' ? [] : text(`${whose}${preview.trimEnd()}`);
    }),
    ...notes.flatMap(text).map(style.quiet),
  ];
}

function of(some: readonly unknown[], all: readonly unknown[], noun: string): string {
  return `${some.length} of ${all.length} ${noun}${all.length === 1 ? '' : 's'}`;
}
