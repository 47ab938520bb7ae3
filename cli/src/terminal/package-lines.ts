/** What `package` shows to people: each step ticked, the answer that was given, and the next command. */
import { isAbsolute, relative } from 'node:path';
import { formatMs, type PackageResult, type VerifyReport } from '@sagemaker-tfs/model-packaging';
import { shellWord } from '@sagemaker-tfs/model-packaging/shell-word';
import { commandName } from '../output/command-name.ts';
import { printable } from '../output/printable.ts';
import { fitted, type Style, shortBytes } from '../output/style.ts';

/** Columns of a step's name. */
const STEP = 9;

/** A ticked step. */
function step(name: string, facts: readonly string[], style: Style, isDone = true): string {
  const mark = isDone ? style.good('✓') : style.bad('✗');
  return `${mark} ${fitted(`${name.padEnd(STEP)} ${facts.join(' · ')}`, style.width - 2)}`;
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
    step(unchanged ? 'unchanged' : 'packed', [path, shortBytes(bytes)], style),
    ...(verification ? verifyLines(verification, style) : [step('verified', ['no'], style, false)]),
    '',
    // To copy, so never cut.
    printable(`  sha256       ${sha256}`),
    printable(`  fingerprint  ${fingerprint}`),
    '',
    printable(`  Next  ${commandName()} serve ${shellWord(path)}`),
  ];
}

/** Relative where it lies below the working directory. */
function near(path: string): string {
  const way = relative(process.cwd(), path);
  return way.startsWith('..') || isAbsolute(way) ? path : way;
}

function verifyLines({ versions, requests }: VerifyReport, style: Style): string[] {
  const signatures = versions.flatMap((version) => version.signatures);
  const ran = signatures.filter(({ firstMs }) => firstMs !== undefined);
  const answered = requests.filter(({ status }) => status < 400);
  const notes = [...signatures, ...requests].map(({ note }) => note).filter(Boolean);
  const first = answered[0];
  const lines = versions.map(({ model, version, loadMs }) =>
    step('loaded', [`${model} v${version}`, formatMs(loadMs)], style),
  );
  const times = ran.length === 1 && ran[0]?.medianMs ? [`median ${formatMs(ran[0].medianMs)}`] : [];
  return [
    ...lines,
    step(
      'ran',
      [of(ran, signatures, 'signature'), ...times],
      style,
      ran.length === signatures.length,
    ),
    step(
      'answered',
      [of(answered, requests, 'request'), ...(first ? [formatMs(first.latencyMs)] : [])],
      style,
      requests.length > 0 && answered.length === requests.length,
    ),
    ...(first?.preview ? [`  ${fitted(first.preview.trimEnd(), style.width - 2)}`] : []),
    ...notes.map((note) => `  ${style.quiet(fitted(note, style.width - 2))}`),
  ];
}

function of(some: readonly unknown[], all: readonly unknown[], noun: string): string {
  return `${some.length} of ${all.length} ${noun}${all.length === 1 ? '' : 's'}`;
}
