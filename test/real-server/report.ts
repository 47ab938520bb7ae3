/** The report of `npm run with-real-server`: Markdown to paste into an issue. */
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** What jest writes with `--json`, as far as it is read here. */
export interface TestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name: string;
    /** Why the file could not be run. */
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

/** All that a run found. */
export interface Findings {
  readonly server: { readonly from: string; readonly sha256: string; readonly version: string };
  /** Processor, memory, system, Node, commit; a line each. */
  readonly machine: readonly string[];
  /** Undefined if jest wrote none. */
  readonly tests: TestResults | undefined;
  /** What the comparison with Google's stubs printed; undefined if it was not run. */
  readonly stubs: { readonly isRight: boolean; readonly text: string } | undefined;
  /** What the benchmarks printed; undefined if none was run. */
  readonly benchmarks: string | undefined;
}

/** Lines kept of a failure. */
const SHOWN = 25;

/** True where every test that ran passed. */
export function allPassed(tests: TestResults | undefined): boolean {
  return tests?.testResults.every(({ status }) => status !== 'failed') ?? false;
}

/** The report's text. */
export function reportText({ server, machine, tests, stubs, benchmarks }: Findings): string {
  return [
    '# With a real TensorFlow Serving',
    '',
    `- server: ${server.from}`,
    `- SHA-256 of the program: ${server.sha256}`,
    `- \`--version\`: ${server.version.split('\n').join('; ')}`,
    ...machine.map((line) => `- ${line}`),
    '',
    '## Tests',
    '',
    ...(tests ? testLines(tests) : ['They did not run to their end.']),
    ...(stubs ? ['', "## Google's stubs", '', ...fenced(stubs.text.trim())] : []),
    ...(benchmarks === undefined
      ? []
      : ['', '## Benchmarks', '', '```', plain(benchmarks).trim(), '```']),
    '',
  ].join('\n');
}

function testLines(tests: TestResults): string[] {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = tests;
  const files = testResults.map((file) => {
    const of = file.assertionResults.filter(({ status }) => status !== 'pending');
    const passed = of.filter(({ status }) => status === 'passed').length;
    return { ...file, path: relative(process.cwd(), file.name), passed, count: of.length };
  });
  files.sort((a, b) => a.path.localeCompare(b.path));
  const failed = files.filter(({ status }) => status === 'failed');
  return [
    `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped.`,
    '',
    '| file | passed |',
    '| --- | --- |',
    ...files.map(({ path, passed, count, status }) => {
      return `| ${path} | ${passed} of ${count}${status === 'failed' ? ', **failed**' : ''} |`;
    }),
    ...failed.flatMap((file) => ['', `### ${file.path}`, ...failuresOf(file)]),
  ];
}

function failuresOf(file: TestResults['testResults'][number]): string[] {
  const failures = file.assertionResults.filter(({ status }) => status === 'failed');
  if (failures.length === 0) return ['', ...fenced(file.message)];
  return failures.flatMap(({ fullName, failureMessages }) => [
    '',
    `- ${fullName}`,
    '',
    ...fenced((failureMessages ?? []).join('\n')),
  ]);
}

function fenced(text: string): string[] {
  return ['```', ...plain(text).split('\n').slice(0, SHOWN), '```'];
}

/** Without colours, and without fences that would end ours. */
function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll('```', "'''");
}
