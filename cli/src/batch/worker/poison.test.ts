/** Objects that end the process of `batch worker`, among many that have their answers. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARTS_FOLDER } from '@sagemaker-tfs/batch';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { sagemakerTfs } from '../test-support.ts';

// All of them share what a busy machine has.
jest.setTimeout(600_000);

const COUNT = 600;
const nameOf = (index: number) => `${String(index).padStart(4, '0')}.json`;
const work = mkdtempSync(join(tmpdir(), 'batch-worker-poison-'));
let s3: GeneratedS3;
beforeAll(async () => {
  const keyOf = (index: number) => `in/${nameOf(index)}`;
  const bodyOf = (index: number) => Buffer.from(`{"instances": [${index}]}`);
  s3 = await startGeneratedS3({ tiles: { count: COUNT, keyOf, bodyOf } }, 100);
});
afterAll(async () => {
  await s3?.close();
});

function run(output: string, handler: string) {
  const file = join(work, `${output}.ts`);
  writeFileSync(file, handler);
  return sagemakerTfs(
    [
      ...['batch', 'worker', '--input', 's3://tiles/in/', '--output', `s3://out/${output}/`],
      ...['--model', fixtureModel('half_plus_two').basePath, '--handler', file],
      ...['--content-type', 'application/json', '--json', '--part-keys', '20'],
    ],
    s3.environment,
  );
}

/** The errors in the parts. */
const failuresOf = (output: string) =>
  [...(s3.stored.get('out') ?? [])]
    .filter(([key]) => key.startsWith(`${output}/${PARTS_FOLDER}`))
    .flatMap(([, { body }]) => Buffer.from(body).toString().split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as { key: string; error?: { code: string } })
    .filter(({ error }) => error !== undefined);

// Most of their time is the worker's own waits.
test.concurrent.each([
  ['a signal', "process.kill(process.pid, 'SIGKILL')"],
  ['an exit that says success', 'process.exit(0)'],
  ['an exit', 'process.exit(9)'],
  ['an exception that nobody catches', "setTimeout(() => { throw new Error('late') })"],
])(
  'an object that ends the process by %s is found, and the others have answers',
  async (how, end) => {
    const output = `poison-${how.replaceAll(' ', '-')}`;
    const { exitCode, stdout } = await run(
      output,
      `export function handler(data: Uint8Array) {
      const text = Buffer.from(data).toString();
      if (text.includes('[123]')) ${end};
      return { text };
    }\n`,
    );
    expect(exitCode).toBe(0);
    // All processes count, not only the last.
    expect(JSON.parse(stdout)).toMatchObject({ answers: COUNT - 1, failures: 1, now: COUNT });
    expect(failuresOf(output)).toMatchObject([
      { key: nameOf(123), error: { code: 'PROCESS_GONE' } },
    ]);
  },
);

test.concurrent('a handler that ends every process is given up after three, with the reason and what to do', async () => {
  const { exitCode, stderr, stdout } = await run(
    'never',
    'setTimeout(() => process.exit(7), 0);\nexport const handler = () => ({});\n',
  );
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(
    /ended 3 times before it asked about any object, last with status 7\. .*Find the cause/,
  );
  expect(stdout).toContain('"code":"WORKER_ENDED"');
});
