/** The verbs over files as SageMaker writes them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../../../test/rehearse/moto.ts';
import { sagemakerTfs } from '../batch/test-support.ts';

jest.setTimeout(120_000);

const work = mkdtempSync(join(tmpdir(), 'captures-test-'));
const baseline = join(work, 'baseline.json');
let moto: Moto;
let environment: Record<string, string>;

const side = (value: unknown) => ({
  observedContentType: 'application/json',
  data: JSON.stringify(value),
  encoding: 'JSON',
});

/** Lines of one variant. @param answer of request i */
function lines(
  count: number,
  input: (i: number) => unknown,
  answer: (i: number) => unknown,
  ids = true,
) {
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      captureData: { endpointInput: side(input(i)), endpointOutput: side(answer(i)) },
      eventMetadata: ids ? { eventId: `event-${i}` } : { eventId: `other-${Math.random()}` },
      eventVersion: '0',
    }),
  ).join('\n');
}

const age = (i: number) => ({ instances: [20 + (i % 40)] });
const scores = (i: number) => ({ predictions: [[(i % 10) / 10, 1 - (i % 10) / 10]] });

beforeAll(async () => {
  const folder = (variant: string) => join(work, 'captures', 'endpoint', variant, '2026/11/23/10');
  const put = (variant: string, text: string) => {
    mkdirSync(folder(variant), { recursive: true });
    writeFileSync(join(folder(variant), 'a.jsonl'), `${text}\n`);
  };
  put('now', lines(200, age, scores));
  // One answer of ten is of another class.
  const other = (i: number) => (i % 10 === 3 ? { predictions: [[0.9, 0.1]] } : scores(i));
  put('next', lines(200, age, other));
  put(
    'unnamed',
    lines(200, (i) => ({ instances: [i] }), scores, false),
  );
  put(
    'late',
    lines(200, (i) => ({ instances: [90 + (i % 5)] }), scores),
  );
  writeFileSync(join(work, 'broken.jsonl'), '{"a": 1}\n');
  Object.assign(process.env, TEST_CREDENTIALS);
  moto = await startMoto();
  environment = { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: moto.url };
  const s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: 'data' }));
  const Key = 'data-capture/endpoint/now/2026/11/23/10/a.jsonl';
  await s3.send(new PutObjectCommand({ Bucket: 'data', Key, Body: lines(50, age, scores) }));
  s3.destroy();
});
afterAll(async () => {
  await moto?.stop();
  rmSync(work, { recursive: true, force: true });
});

const run = (...args: string[]) => sagemakerTfs(['captures', ...args], environment);
const folder = join(work, 'captures');

test('a baseline of one variant, and drift of another', async () => {
  const made = await run('baseline', folder, '--variant', 'now', '--out', baseline, '--json');
  expect(JSON.parse(made.stdout)).toMatchObject({ records: 200, unreadable: 0 });
  const same = await run('drift', folder, '--variant', 'now', '--baseline', baseline, '--json');
  expect(same.exitCode).toBe(0);
  expect(JSON.parse(same.stdout)).toMatchObject({ drifted: 0, records: 200 });
  const late = await run('drift', folder, '--variant', 'late', '--baseline', baseline, '--json');
  expect(late.exitCode).toBe(1);
  const { code, features } = JSON.parse(late.stdout);
  expect(code).toBe('DRIFTED');
  expect(features[0]).toMatchObject({ feature: 'input.value', drifted: true, count: 200 });
  const told = await run('drift', folder, '--variant', 'late', '--baseline', baseline);
  expect(told.stderr).toContain('of 4 features 1 have drifted: input.value');
});

test('inputs that no longer come, or cannot be read, are drift', async () => {
  const out = join(work, 'gone.json');
  await run('baseline', folder, '--variant', 'now', '--out', out);
  const broken = join(work, 'unread.jsonl');
  const unread = { ...side(0), data: '{' };
  const captureData = { endpointInput: unread, endpointOutput: unread };
  writeFileSync(broken, `${JSON.stringify({ captureData, eventMetadata: {} })}\n`);
  const drift = await run('drift', broken, '--baseline', out);
  expect(drift.exitCode).toBe(1);
  expect(drift.stderr).toContain(
    'nothing could be compared: none of 4 features comes in 1 capture',
  );
  const other = join(work, 'other.jsonl');
  writeFileSync(other, `${lines(50, () => ({ instances: [{ b: 1 }] }), scores)}\n`);
  const renamed = await run('drift', other, '--baseline', out, '--json');
  expect(renamed.exitCode).toBe(1);
  expect(JSON.parse(renamed.stdout)).toMatchObject({ code: 'DRIFTED', gone: ['input.value'] });
  const none = await run('baseline', broken, '--out', join(work, 'none.json'), '--json');
  expect(none.exitCode).toBe(1);
  expect(JSON.parse(none.stdout)).toMatchObject({ code: 'CAPTURE_INVALID' });
});

test('names that callers sent stay on their lines', async () => {
  const name = 'x\n0 drifted\r\u001b[2J\u0085\u009b1m\u202e';
  const [file, out] = [join(work, 'hostile.jsonl'), join(work, 'hostile.json')];
  const input = (i: number) => ({ instances: [{ [name]: i % 40 }] });
  const variant = join(work, 'hostile', 'v', '2026/11/23/10');
  mkdirSync(variant, { recursive: true });
  writeFileSync(file, `${lines(100, input, input)}\n`);
  writeFileSync(join(variant, 'a.jsonl'), `${lines(100, input, input)}\n`);
  const shadow = join(work, 'hostile', 'w', '2026/11/23/10');
  mkdirSync(shadow, { recursive: true });
  const other = (i: number) => input(i + 1);
  writeFileSync(join(shadow, 'a.jsonl'), `${lines(100, input, other)}\n`);
  const typed = lines(3, input, input).replaceAll('application/json', 'a/b\\n0 drifted');
  writeFileSync(join(work, 'typed.jsonl'), `${typed}\n`);
  writeFileSync(join(work, 'bad\n0 drifted.jsonl'), 'x\n');
  const late = join(work, 'hostile-late.jsonl');
  writeFileSync(late, `${lines(100, () => input(39), input)}\n`);
  const shown = [
    await run('baseline', file, '--out', out),
    await run('drift', file, '--baseline', out),
    await run('drift', late, '--baseline', out),
    await run('drift', file, '--baseline', baseline),
    await run('drift', join(folder), '--baseline', out),
    await run('compare', join(work, 'hostile'), '--production', 'v', '--shadow', 'w'),
    await run('baseline', join(work, 'typed.jsonl'), '--out', join(work, 'typed.json')),
    await run('baseline', join(work, 'bad\n0 drifted.jsonl'), '--out', join(work, 'no.json')),
  ];
  for (const { stdout, stderr } of shown) {
    const text = stdout + stderr;
    expect(text).not.toMatch(/^0 drifted/m);
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
  }
  expect(shown.map(({ stdout, stderr }) => /0 drifted/.test(stdout + stderr))).toEqual([
    false,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
  ]);
});

test('captures in S3, as many as are asked for', async () => {
  const out = join(work, 's3.json');
  const made = await run(
    'baseline',
    's3://data/data-capture/',
    '--max-captures',
    '20',
    '--out',
    out,
    '--json',
  );
  const coverage = { captures: 20, of: 50, exact: true, hours: 1, ofHours: 1 };
  expect(JSON.parse(made.stdout)).toMatchObject({ records: 20, coverage });
  const none = await run('baseline', 's3://data/nothing/', '--out', out, '--json');
  expect(JSON.parse(none.stdout)).toMatchObject({ code: 'INPUT_EMPTY' });
});

test('the last hours are among fewer captures than there are', async () => {
  const few = ['--max-captures', '100', '--threshold', '0.1', '--json'];
  const told = await run('drift', folder, '--baseline', baseline, ...few);
  // `late` is the first by name, and `unnamed` the last.
  const { features, coverage } = JSON.parse(told.stdout);
  expect(coverage).toEqual({ captures: 100, of: 800, exact: true, hours: 4, ofHours: 4 });
  expect(features[0]).toMatchObject({ feature: 'input.value', drifted: true, count: 100 });
});

test('a shadow is compared by the id of requests, or by their bodies', async () => {
  const compare = async (shadow: string, ...more: string[]) => {
    const { stdout } = await run(
      'compare',
      folder,
      '--production',
      'now',
      '--shadow',
      shadow,
      '--json',
      ...more,
    );
    return JSON.parse(stdout);
  };
  expect(await compare('next')).toMatchObject({
    pairs: 200,
    agreement: { count: 180, of: 200, share: 0.9 },
    disagreements: { '[0]': 20 },
  });
  // The first ones of both, so that they have partners.
  const { pairs, coverage } = await compare('next', '--max-captures', '30');
  expect({ pairs, shadow: coverage.shadow }).toMatchObject({ pairs: 30, shadow: { of: 200 } });
  // Bodies of `unnamed` are 0 to 199. Those from 20 to 59 were asked of `now` too.
  expect(await compare('unnamed')).toMatchObject({ pairs: 40, production: 200, shadow: 200 });
});

test('variants that answered no request together are no comparison', async () => {
  for (const [variant, value] of [
    ['v', 1],
    ['w', 2],
  ] as const) {
    const place = join(work, 'apart', variant, '2026/11/23/10');
    mkdirSync(place, { recursive: true });
    const request = () => ({ instances: [value] });
    const unnamed = lines(3, request, request, false);
    writeFileSync(join(place, 'a.jsonl'), `${unnamed}\n`);
  }
  const names = ['--production', 'v', '--shadow', 'w', '--json'];
  const { exitCode, stdout } = await run('compare', join(work, 'apart'), ...names);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([
    1,
    {
      ...{ code: 'CAPTURE_INVALID', pairs: 0, production: 3, shadow: 3 },
      error: expect.stringContaining('of 3 captures of v and 3 of w no two are of one request'),
    },
  ]);
});

test('what is no capture or no baseline is named', async () => {
  const broken = await run('baseline', join(work, 'broken.jsonl'), '--out', baseline);
  expect(broken.stderr).toContain('broken.jsonl: line 1 is no capture of SageMaker');
  const wrong = await run('drift', folder, '--baseline', join(work, 'broken.jsonl'));
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toContain('is no baseline. Write one with captures baseline.');
});
