/**
 * Commands that a page shows with what they print, in blocks of `console`: `$ COMMAND`, then the output. They run one after
 * the other in one shell, in a folder of its own that has `examples/` as a clone does.
 *
 * `npm run docs:transcripts` writes the outputs anew; docs/transcripts.test.ts compares them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Pages with such blocks, below docs/. */
export const PAGES = [
  'pictures-to-parquet.md',
  'detector-to-boxes.md',
  'batch.md',
  'migrate-in-30-minutes.md',
];

/** One command of a page. */
export interface Shown {
  readonly command: string;
  /** `# exit status 1` above a command that must fail. Default: 0. */
  readonly status: number;
  readonly output: string;
}

const BLOCK = /^```console\n([\s\S]*?)^```$/gm;
/** A command with its continued lines, and the lines up to the next one. */
const COMMAND =
  /(?:^# exit status (\d+)\n)?^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ |# exit status ).*\n)*)/gm;

/** The commands of a page, in order. */
export function shownIn(page: string): Shown[] {
  return [...page.matchAll(BLOCK)].flatMap(([, body = '']) =>
    [...body.matchAll(COMMAND)].map(([, status = '0', command = '', output = '']) => ({
      command,
      status: Number(status),
      output: output.trimEnd(),
    })),
  );
}

/** What each command prints to stdout, and its exit status. The folder is removed. */
export function run(commands: readonly string[]): { status: number; output: string }[] {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-'));
  try {
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const script = commands.map((command) => `${command}\nprintf '\\0%s\\0' $?\n`).join('');
    const { stdout } = spawnSync('bash', ['-c', script], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 24,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const parts = stdout.replaceAll(folder, '~/clone').split('\0');
    return commands.map((_, index) => ({
      output: (parts[2 * index] ?? '').trimEnd(),
      status: Number(parts[2 * index + 1] ?? Number.NaN),
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The page with these outputs in place of its own. */
export function withOutputs(page: string, outputs: readonly string[]): string {
  let next = 0;
  return page.replaceAll(BLOCK, (_, body: string) => {
    const parts = shownIn(`\`\`\`console\n${body}\`\`\``).map(({ command, status }) => {
      const said = status === 0 ? '' : `# exit status ${status}\n`;
      const output = outputs[next++] ?? '';
      return `${said}$ ${command}\n${output}${output && '\n'}`;
    });
    return `\`\`\`console\n${parts.join('')}\`\`\``;
  });
}

/** An output without what differs from run to run and from machine to machine: times, rates, sizes, digests, scores. */
export function steady(output: string): string {
  return output
    .replace(/\b[0-9a-f]{64}\b/g, 'DIGEST')
    .replace(/\d[\d,]*\.\d+/g, 'N')
    .replace(/\b\d+(?= ?(?:ms|s|kB|B|MB|\/s)\b)/g, 'N')
    .replace(/(?<=\()\d+(?=\/s\))/g, 'N')
    .replace(/[─ ]+/g, ' ');
}

if (process.argv[1] === join(import.meta.dirname, 'transcripts.ts')) {
  execFileSync('node', ['build.mjs', 'cli'], { cwd: ROOT });
  for (const name of PAGES) {
    const file = join(import.meta.dirname, name);
    const page = readFileSync(file, 'utf8');
    const outputs = run(shownIn(page).map(({ command }) => command));
    writeFileSync(
      file,
      withOutputs(
        page,
        outputs.map(({ output }) => output),
      ),
    );
  }
}
