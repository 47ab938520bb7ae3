/** The test kit, with the real model. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  closeTo,
  fakeContext,
  type ModelUnderTest,
  matchesGolden,
  startModel,
} from 'sagemaker-tfs/testing';
import { fixtureModel } from '../../test/fixtures/index.ts';

let work: string;
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'testing-'));
});
afterEach(() => rm(work, { recursive: true, force: true }));

describe('a model under test', () => {
  let model: ModelUnderTest;
  beforeAll(async () => {
    model = await startModel({ model: fixtureModel('half_plus_two').basePath });
  });
  afterAll(() => model?.stop());

  test('answers objects, text and bytes', async () => {
    const golden = { predictions: [3.5, 4] };
    const body = { instances: [1, 2] };
    const bytes = Buffer.from(JSON.stringify(body));
    const json = { contentType: 'application/json' };
    const answers = [
      await model.post(body),
      await model.post(JSON.stringify(body)),
      await model.post(bytes, json),
    ];
    for (const answer of answers) expect(closeTo(answer.json(), golden)).toBeUndefined();
    expect(model.log()).toContain(model.url);
  });

  test('an error answer is a PredictionError', async () => {
    await expect(model.post('no json')).rejects.toMatchObject({ status: 400 });
  });
});

test('the log has the lines of what was answered', async () => {
  const handler = join(work, 'inference.ts');
  await writeFile(
    handler,
    `export function outputHandler(outputs: unknown, context: { log: { info(text: string): void }; customAttributes: string }) {
  context.log.info('for ' + context.customAttributes);
  return outputs;
}
`,
  );
  const model = await startModel({ model: fixtureModel('half_plus_two').basePath, handler });
  try {
    const ask = async (name: string) => {
      await model.post({ instances: [1] }, { customAttributes: name });
      expect(model.log()).toContain(`for ${name}`);
    };
    for (let i = 0; i < 10; i++) await ask(`number-${i}-`);
    await expect(model.post('no json')).rejects.toMatchObject({ status: 400 });
    expect(model.log()).toContain('invocation refused');
  } finally {
    await model.stop();
  }
});

test('an exception of a handler names its line of the source', async () => {
  const handler = join(work, 'inference.ts');
  await writeFile(
    handler,
    `interface Row { readonly score: { readonly value: number } }

export function outputHandler(outputs: unknown) {
  return (outputs as Row).score.value;
}
`,
  );
  const model = await startModel({ model: fixtureModel('half_plus_two').basePath, handler });
  try {
    await expect(model.post({ instances: [1] })).rejects.toThrow(
      /the handler failed: .*undefined.* \(at inference\.ts:4:\d+\)/,
    );
  } finally {
    await model.stop();
  }
});

test('what does not start says why', async () => {
  await expect(startModel({ model: join(work, 'none') })).rejects.toThrow('none does not exist');
});

test.each([[{}], [undefined], [{ model: '' }], [{ model: 7 }]])(
  'options without a model are an error that names it: %j',
  async (options) => {
    const start = startModel as (options: unknown) => Promise<ModelUnderTest>;
    await expect(start(options)).rejects.toThrow(/startModel: the option "model" is missing/);
  },
);

test('numbers may differ by the tolerance, all else may not', () => {
  expect(closeTo({ a: [1, 1e6] }, { a: [1.000001, 1e6 + 1] })).toBeUndefined();
  expect(closeTo({ a: [1] }, { a: [1.1] })).toBe('$.a[0] is 1, not 1.1');
  expect(closeTo({ a: [1] }, { a: [1.1] }, { tolerance: 0.2 })).toBeUndefined();
  expect(closeTo({ a: 'x' }, { a: 'y' })).toBe('$.a is "x", not "y"');
  expect(closeTo({ a: 1 }, { a: 1, b: 2 })).toBe('$.b is missing');
  expect(closeTo([1, 2], [1])).toBe('$[1] is new');
  expect(closeTo(Number.NaN, Number.NaN)).toBeUndefined();
  expect(closeTo([Infinity], [Infinity])).toBeUndefined();
  for (const other of [1, -Infinity, Number.NaN]) {
    expect(closeTo([other], [Infinity])).toBe(`$[0] is ${other}, not Infinity`);
  }
  expect(closeTo([], {})).toContain('is []');
});

test('Maps, Sets and Dates differ where their parts do', () => {
  const map = (value: number) => new Map([['a', { score: value }]]);
  expect(closeTo({ m: map(1) }, { m: map(1.000001) })).toBeUndefined();
  expect(closeTo({ m: map(1) }, { m: map(2) })).toBe('$.m."a".score is 1, not 2');
  expect(closeTo(new Map(), map(1))).toBe('$."a" is missing');
  expect(closeTo(new Map(), {})).toBe('$ is Map(0) {}, not {}');
  expect(closeTo(new Set([1, 2]), new Set([1, 3]))).toBe('$.1 is 2, not 3');
  expect(closeTo(new Set([1]), new Set([1]))).toBeUndefined();
  expect(closeTo(new Date(5), new Date(5))).toBeUndefined();
  expect(closeTo(new Date(5), new Date(6))).toContain('is 5, not 6');
});

test('golden files are written when asked for, then compared', () => {
  const file = join(work, 'goldens/a.json');
  matchesGolden(file, { score: 0.5 }, { update: true });
  matchesGolden(file, { score: 0.5000001 });
  expect(() => matchesGolden(file, { score: 0.6 })).toThrow('$.score is 0.6, not 0.5');
  const notFinite = { scores: [Number.NaN, -Infinity, 2n ** 60n] };
  matchesGolden(file, notFinite, { update: true });
  matchesGolden(file, notFinite);
  expect(() => matchesGolden(file, { scores: [null, -Infinity, 2n ** 60n] })).toThrow(
    '$.scores[0] is null, not NaN',
  );
});

test('a golden file that is missing in CI says what writes it', () => {
  const before = process.env.CI;
  process.env.CI = 'true';
  try {
    expect(() => matchesGolden(join(work, 'none.json'), 1, { update: false })).toThrow(
      /none\.json is not there, .* UPDATE_GOLDENS=1/,
    );
  } finally {
    if (before === undefined) delete process.env.CI;
    else process.env.CI = before;
  }
});

test('a fake context has every field, a silent log, and no model unless given', async () => {
  const context = fakeContext({ requestContentType: 'text/csv' });
  expect(context).toMatchObject({ requestContentType: 'text/csv', method: 'predict' });
  context.log.info({ a: 1 }, 'nothing');
  await expect(context.predict({})).rejects.toThrow('has no model');
});
