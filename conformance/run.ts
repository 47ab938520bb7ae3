/**
 * `npm run conformance [-- --short] [-- --only SECTION,...]`: compares this project with Python TensorFlow, NumPy,
 * Pillow and Google's gRPC stubs, which it installs once into an environment of its own, and writes
 * docs/conformance.md (not with `--short`; with `--only`, the rows of those sections).
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { withNext } from '../docs/navigation.ts';
import type { Case, Oracle, Section } from './sections/case.ts';
import { SECTIONS } from './sections/index.ts';

const HERE = import.meta.dirname;
const SHOWN = 5;

interface Result {
  readonly section: Section;
  readonly cases: number;
  /** Of those that agree with what is documented: the row of docs/where-it-differs.md -> how many. */
  readonly decided: ReadonlyMap<string, number>;
  readonly differences: readonly string[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { short: { type: 'boolean' }, only: { type: 'string' } },
  });
  const sections = chosenSections(values.only);
  const size = values.short ? 'short' : 'full';
  const python = await ensurePython();
  const out = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const oracle: Oracle = { python, scripts: join(HERE, 'oracle'), out, size };
    await makeCases(sections, oracle);
    const versions = JSON.parse(await readFile(join(out, 'versions.json'), 'utf8'));
    const results: Result[] = [];
    for (const section of sections) results.push(await compare(section, oracle));
    // The page is about the local model server, not about the one that a test brings.
    const isOurs = process.env.TEST_MODEL_SERVER_BIN === undefined;
    if (!values.short && isOurs) await writePage(results, versions);
    if (results.some(({ differences }) => differences.length > 0)) process.exitCode = 1;
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** Those of a list of names with commas between; all without one. */
function chosenSections(only: string | undefined): readonly Section[] {
  const names = only?.split(',');
  const known = SECTIONS.map(({ file }) => file);
  const unknown = names?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) {
    process.stderr.write(`No section ${unknown.join(', ')}. Use of: ${known.join(', ')}.\n`);
    process.exit(2);
  }
  return SECTIONS.filter(({ file }) => names?.includes(file) ?? true);
}

/** Has the oracle write the cases of all sections. */
async function makeCases(sections: readonly Section[], oracle: Oracle): Promise<void> {
  const files = sections.filter(({ make }) => !make).map(({ file }) => file);
  await execa(oracle.python, [join(oracle.scripts, 'all.py'), oracle.out, oracle.size, ...files], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const { make } of sections) await make?.(oracle);
}

/** The Python of an environment with the pinned packages. */
async function ensurePython(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const home = join(cache, 'sagemaker-tfs', 'conformance-python');
  const python = join(home, 'bin', 'python');
  const files = ['requirements.txt', 'requirements-alone.txt'].map((name) => join(HERE, name));
  const wanted = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
  const stamp = join(home, 'requirements.txt');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return python;
  process.stderr.write('Install TensorFlow, NumPy and Pillow for Python (once, about 270 MB)\n');
  await rm(home, { recursive: true, force: true });
  const show = { stdio: ['ignore', 'ignore', 'inherit'] as const };
  await execa('python3', ['-m', 'venv', home], show);
  const install = ['-m', 'pip', 'install', '--quiet', '--no-cache-dir'];
  await execa(python, [...install, '-r', files[0] as string], show);
  await execa(python, [...install, '--no-deps', '-r', files[1] as string], show);
  await writeFile(`${stamp}.partial`, wanted);
  await rename(`${stamp}.partial`, stamp);
  return python;
}

async function compare(section: Section, oracle: Oracle): Promise<Result> {
  const lines = (await readFile(join(oracle.out, `${section.file}.jsonl`), 'utf8')).split('\n');
  const cases = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Case);
  const differences: string[] = [];
  const decided = new Map<string, number>();
  await section.start?.(oracle);
  for (const given of cases) {
    const difference = await differenceOf(section, given);
    if (difference === undefined) {
      const { decision } = given as { readonly decision?: string | null };
      if (decision) decided.set(decision, (decided.get(decision) ?? 0) + 1);
      continue;
    }
    differences.push(difference);
    if (differences.length <= SHOWN) {
      process.stdout.write(`  ${difference}: ${JSON.stringify(given).slice(0, 300)}\n`);
    }
  }
  await section.stop?.();
  const result = { section, cases: cases.length, decided, differences };
  process.stdout.write(`${section.title}: ${countsOf(result)}\n`);
  return result;
}

async function differenceOf(section: Section, given: Case): Promise<string | undefined> {
  try {
    return await section.differs(given);
  } catch (error) {
    return String(error);
  }
}

function countsOf({ cases, decided, differences }: Result): string {
  const known = total(decided);
  const agreed = cases - known - differences.length;
  return `${agreed} of ${cases} agree, ${known} differ by decision, ${differences.length} differ`;
}

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

/** Writes a row for each section that ran; the others keep the row that they have. */
async function writePage(
  results: readonly Result[],
  versions: Readonly<Record<string, string>>,
): Promise<void> {
  const docs = join(HERE, '..', 'docs');
  const path = join(docs, 'conformance.md');
  checkDecisions(results, await readFile(join(docs, 'where-it-differs.md'), 'utf8'));
  const before = (await readFile(path, 'utf8')).split('\n');
  const rows = SECTIONS.flatMap((section) => {
    const result = results.find((ran) => ran.section === section);
    if (result) return [rowOf(result, versions)];
    return before.filter((line) => line.startsWith(`| ${section.title} |`));
  });
  await writeFile(path, withNext('docs/conformance.md', page(rows)));
}

/** @throws Error where a case follows a decision that the page does not list */
function checkDecisions(results: readonly Result[], page: string): void {
  const decisions = new Set(results.flatMap(({ decided }) => [...decided.keys()]));
  const unknown = [...decisions].filter((decision) => !page.includes(`\n| ${decision} |`));
  if (unknown.length > 0) {
    throw new Error(`docs/where-it-differs.md has no row ${unknown.join(', ')}. Add it.`);
  }
}

function rowOf(
  { section, cases, decided, differences }: Result,
  versions: Readonly<Record<string, string>>,
): string {
  const reference = Object.entries(versions).reduce(
    (text, [name, version]) =>
      text.replace(new RegExp(`\\b${name}\\b(?! Serving)`), `${name} ${version}`),
    section.reference,
  );
  const number = (count: number) => count.toLocaleString('en-US');
  const agreed = cases - total(decided) - differences.length;
  const rows = [...decided].map(([row, count]) => `${number(count)}: ${row}`);
  const cells = [section.title, reference, section.tolerance, number(cases), number(agreed)];
  return `| ${[...cells, rows.join('; ') || '0'].join(' | ')} |`;
}

function page(rows: readonly string[]): string {
  return `# Conformance

\`npm run conformance\` compares this project with the programs that models come from, on generated inputs, and writes
this page; CI runs a part of it (\`--short\`). The last column counts the cases whose answer differs from the reference's
on purpose, by row of [Where it differs](where-it-differs.md), and is as that row says.

| what | reference | agreed means | cases | agreed | differs by decision |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

await main();
