/** Captures, their values, drift and agreement; numbers of NumPy and SciPy where there are any. */
import {
  encodeNpy,
  encodeNpz,
  jsonText,
  numericTensor,
  tensorFromNested,
  tensorFromValues,
} from '@sagemaker-tfs/tensors';
import { zipSync } from 'fflate';
import { countedIn } from './distribution.ts';
import {
  baselineOf,
  type CapturedBody,
  differenceOf,
  distributionOf,
  driftOf,
  gatherer,
  parseBaseline,
  parseCapture,
  stabilityOf,
  valuesOf,
} from './index.ts';

const json = (value: unknown): CapturedBody => ({
  contentType: 'application/json',
  bytes: Buffer.from(JSON.stringify(value)),
});
const values = (body: CapturedBody) => Object.fromEntries(valuesOf(body));

test('a capture is text or base64, with its media type and id', () => {
  const text = JSON.stringify({
    captureData: {
      endpointInput: {
        observedContentType: 'Application/JSON; charset=utf-8',
        mode: 'INPUT',
        data: '{"instances":[1]}',
        encoding: 'JSON',
      },
      endpointOutput: { data: Buffer.from([1, 2]).toString('base64'), encoding: 'BASE64' },
    },
    eventMetadata: { eventId: 'e', inferenceTime: '2026-11-23T00:00:00Z' },
    eventVersion: '0',
  });
  const capture = parseCapture(text);
  expect(capture.id).toBe('e');
  expect(capture.input?.contentType).toBe('application/json');
  expect(Buffer.from(capture.input?.bytes ?? []).toString()).toBe('{"instances":[1]}');
  expect([...(capture.output?.bytes ?? [])]).toEqual([1, 2]);
});

test.each(['', '{}', '[1]', '{"captureData":{"endpointInput":{"data":5}}}', '\0'])(
  '%j is no capture',
  (text) => {
    expect(() => parseCapture(text)).toThrow('is no capture of SageMaker');
  },
);

describe('the values of', () => {
  test('rows, columns, named inputs, documents and anything else in JSON', () => {
    expect(values(json({ instances: [1, 2, null, 'a'] }))).toEqual({
      value: [1, 2, Number.NaN, 'a'],
    });
    expect(values(json({ instances: [[1, 5, 3]] }))).toEqual({
      ...{ '[0]': [1], '[1]': [5], '[2]': [3] },
      'value.argmax': ['1'],
    });
    expect(values(json({ inputs: { age: [[40], [50]], name: ['x', 'y'] } }))).toEqual({
      age: [40, 50],
      name: ['x', 'y'],
    });
    expect(values(json([{ score: 0.5, box: { x: 1 } }]))).toEqual({ score: [0.5], 'box.x': [1] });
    expect(values({ ...json(1), bytes: Buffer.from('{"a":1}\n{"a":NaN}') })).toEqual({
      a: [1, Number.NaN],
    });
    const large = values(json({ predictions: [Array.from({ length: 1000 }, (_, i) => i)] }));
    expect(large['[]']).toHaveLength(64);
    expect(large['value.argmax']).toEqual(['999']);
    expect(
      values(
        json({
          instances: [
            [
              [1, 2],
              [3, 4],
            ],
          ],
        }),
      ),
    ).toMatchObject({ '[][1]': [2, 4] });
  });

  test('npy, npz and CSV', () => {
    const x = tensorFromNested('float32', [
      [1, 2],
      [4, 3],
    ]);
    const npy = { contentType: 'application/x-npy', bytes: Buffer.concat(encodeNpy(x)) };
    const expected = { '[0]': [1, 4], '[1]': [2, 3], 'value.argmax': ['1', '0'] };
    expect(values(npy)).toEqual(expected);
    const parts = encodeNpz({ x, n: tensorFromNested('int64', [[7], [8]]) });
    expect(values({ contentType: 'application/x-npz', bytes: Buffer.concat(parts) })).toEqual({
      ...{ 'x[0]': [1, 4], 'x[1]': [2, 3], 'x.argmax': ['1', '0'] },
      n: [7, 8],
    });
    const csv = { contentType: 'text/csv', bytes: Buffer.from('1,red\n,"a,b"\nNaN,\n') };
    expect(values(csv)).toEqual({
      ...{ '[0]': [1, Number.NaN, Number.NaN], '[1]': ['red', 'a,b', Number.NaN] },
    });
  });

  test('other media types are their size', () => {
    expect(values({ contentType: 'image/png', bytes: Buffer.alloc(7) })).toEqual({ bytes: [7] });
  });

  test('a body of many names or rows stays small', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    expect(valuesOf(json([many])).size).toBeLessThanOrEqual(1024);
    const rows = valuesOf(json({ instances: new Array(10_000).fill(1) })).get('value');
    expect(rows).toHaveLength(256);
    let leftOut = 0;
    valuesOf(json([many]), () => leftOut++);
    expect(leftOut).toBe(5000 - 1024);
  });

  // An object is made for each string: gigabytes for some kilobytes that were deflated.
  test.each([
    [1, 1_100_000],
    [20, 100_000],
  ])('%d arrays of %d strings are unreadable', (arrays, count) => {
    const bytes = Buffer.concat(encodeNpy(numericTensor('uint8', [count], Buffer.alloc(count))));
    bytes.write('|S1', bytes.indexOf('|u1'));
    const files = Array.from({ length: arrays }, (_, i) => [`x${i}.npy`, bytes] as const);
    const npz = { contentType: 'application/x-npz', bytes: zipSync(Object.fromEntries(files)) };
    expect(() => valuesOf(npz)).toThrow(/strings. At most/);
    const npy = { contentType: 'application/x-npy', bytes };
    if (arrays === 1) expect(() => valuesOf(npy)).toThrow(/strings. At most/);
  });

  // With the whole name each part would take the time of copying it.
  test('a long name over many parts is cut', () => {
    const parts = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`${i}`, i]));
    const long = 'x'.repeat(3_000_000);
    const names = [
      ...valuesOf(json([{ [long]: parts }])).keys(),
      ...valuesOf(json({ inputs: { [long]: [1, 2] } })).keys(),
    ];
    for (const name of names) expect(name.length).toBeLessThanOrEqual(256);
  }, 20_000);
});

test('of more values than are kept, early and late ones are', () => {
  const all = gatherer();
  const add = (value: number) => {
    for (let i = 0; i < 300; i++) {
      const input = json({ instances: new Array(256).fill(value) });
      all.add({ id: undefined, input, output: undefined });
    }
  };
  for (const value of [1, 2, 3]) add(value);
  const kept = all.gathered().values.get('input.value') ?? [];
  expect(kept).toHaveLength(20_000);
  for (const value of [1, 2, 3]) {
    expect(kept.filter((one) => one === value).length / kept.length).toBeCloseTo(1 / 3, 1);
  }
});

/** Spread without chance. */
const spread = (count: number, step: number, modulus: number) =>
  Array.from({ length: count }, (_, i) => ((i * step) % modulus) / modulus);

test('stability is the index that NumPy computes over the same bins', () => {
  const before = spread(997, 331, 997);
  const after = spread(499, 101, 499).map((value) => value ** 2);
  const baseline = distributionOf(before);
  expect(baseline).toMatchObject({ kind: 'numbers', missing: 0 });
  const stability = stabilityOf(baseline, countedIn(baseline, after));
  // numpy.quantile(method='inverted_cdf'), numpy.histogram, half a count added to each bin; scipy.stats.chi2.ppf(0.95, 9).
  expect(stability.index).toBeCloseTo(EXPECTED.index, 10);
  expect(stability.noise / EXPECTED.noise).toBeCloseTo(1, 2);
});

const EXPECTED = { index: 0.3750525136749242, noise: 0.05087565400914606 };

test('equal samples are stable, missing values and new categories are not', () => {
  const of = (list: (number | string)[], now: (number | string)[]) => {
    const baseline = distributionOf(list);
    return stabilityOf(baseline, countedIn(baseline, now));
  };
  const numbers = spread(500, 101, 499);
  expect(of(numbers, numbers).index).toBeCloseTo(0, 12);
  const broken = numbers.map((value, i) => (i % 2 ? value : Number.NaN));
  expect(of(numbers, broken).index).toBeGreaterThan(0.25);
  const colors = numbers.map((value) => (value < 0.5 ? 'red' : 'blue'));
  expect(of(colors, colors).index).toBeCloseTo(0, 12);
  expect(
    of(
      colors,
      colors.map(() => 'green'),
    ).index,
  ).toBeGreaterThan(1);
  expect(of([1, 1, 1], [1, 1, 1])).toMatchObject({ index: 0, noise: 0 });
  expect(of(['a'], [])).toMatchObject({ index: 0, count: 0 });
  expect(of(numbers, new Array(200).fill('text')).index).toBeGreaterThan(1);
});

test.each([
  ['a flag that is mostly set', [...Array(380).fill(1), ...Array(20).fill(0)], Array(400).fill(0)],
  ['a flag that is rarely set', [...Array(380).fill(0), ...Array(20).fill(1)], Array(400).fill(1)],
  ['a constant that falls', Array(400).fill(1), Array(400).fill(0)],
  ['a constant that rises', Array(400).fill(1), Array(400).fill(2)],
  ['a constant that becomes noise', Array(400).fill(5), spread(400, 101, 399)],
  ['ratings', [...Array(368).fill(5), ...Array(32).fill(4)], Array(400).fill(1)],
  ['negative infinity', Array(400).fill(-Infinity), Array(400).fill(Infinity)],
  ['infinity', Array(400).fill(Infinity), Array(400).fill(3)],
  ['-0 below which nothing was', Array(400).fill(-0), Array(400).fill(-1e-300)],
])('%s drifts, and is stable against itself', (_, before: number[], now: number[]) => {
  const baseline = distributionOf(before);
  const { index, noise } = stabilityOf(baseline, countedIn(baseline, now));
  expect(index).toBeGreaterThan(5);
  expect(index).toBeGreaterThan(noise);
  expect(stabilityOf(baseline, countedIn(baseline, before)).index).toBeCloseTo(0, 12);
});

test('a baseline of the largest numbers goes through JSON, too', () => {
  const largest = distributionOf([1e308, 1.7e308, 1.7e308, -Infinity, Number.NaN]);
  expect(JSON.parse(JSON.stringify(largest))).toEqual(largest);
  expect(largest).toMatchObject({ missing: 1, mean: expect.closeTo(1.4666e308, -305) });
});

test('small samples of the same distribution drift in fewer than 10 of 100 cases', () => {
  let state = 7;
  // A generator of Park and Miller.
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const baseline = distributionOf(Array.from({ length: 2000 }, random));
  const wrong = Array.from({ length: 100 }, () => {
    const now = countedIn(baseline, Array.from({ length: 60 }, random));
    const { index, noise } = stabilityOf(baseline, now);
    return index > noise;
  }).filter(Boolean);
  expect(wrong.length).toBeLessThan(10);
});

test('a baseline goes through JSON, and names what drifted, is gone and is new', () => {
  const capture = (age: number, color: string, score: number) => ({
    id: undefined,
    input: json([{ age, color }]),
    output: json({ predictions: [[score, 1 - score]] }),
  });
  const before = gatherer();
  for (let i = 0; i < 400; i++) before.add(capture(20 + (i % 50), i % 2 ? 'red' : 'blue', i / 400));
  const baseline = parseBaseline(JSON.stringify(baselineOf(before.gathered())));
  expect(Object.keys(baseline.features)).toContain('output.value.argmax');
  const after = gatherer(baseline);
  for (let i = 0; i < 400; i++) {
    after.add({
      ...capture(60 + (i % 5), 'red', i / 400),
      input: json([{ age: 60 + (i % 5), size: 1 }]),
    });
  }
  after.add({
    id: 'x',
    input: { contentType: 'text/csv', bytes: Buffer.from('"') },
    output: undefined,
  });
  const drift = driftOf(baseline, after.gathered(), 0.2);
  expect(drift).toMatchObject({
    records: 401,
    unreadable: 1,
    gone: ['input.color'],
    unknown: ['input.size'],
  });
  expect(drift.features[0]).toMatchObject({ feature: 'input.age', drifted: true });
  // With the one that is gone.
  expect(drift.drifted).toBe(2);
});

test('nothing that could be compared is drift', () => {
  const before = gatherer();
  before.add({ id: 'x', input: json([{ age: 1 }]), output: json({ predictions: [1] }) });
  const baseline = baselineOf(before.gathered());
  const broken = { contentType: 'application/json', bytes: Buffer.from('{') };
  for (const body of [broken, json([{ other: 1 }])]) {
    const now = gatherer(baseline);
    now.add({ id: 'x', input: body, output: broken });
    const drift = driftOf(baseline, now.gathered(), 0.2);
    expect(drift).toMatchObject({ features: [], gone: ['input.age', 'output.value'], drifted: 2 });
  }
});

test.each([
  '',
  '{}',
  '{"baselineVersion":1,"records":1,"features":{}}',
  '{"baselineVersion":1,"records":1,"features":{"a":{"kind":"numbers","edges":[],"counts":[],"missing":0,"mean":0}}}',
])('%j is no baseline', (text) => {
  expect(() => parseBaseline(text)).toThrow('is no baseline');
});

describe('two answers', () => {
  const tolerance = { absolute: 0.01, relative: 0 };
  const compared = (one: unknown, other: unknown) =>
    differenceOf(json(one), json(other), tolerance);

  test('agree within the tolerance, and say where they do not', () => {
    expect(
      compared({ predictions: [[0.1, 0.9]] }, { predictions: [[0.105, 0.895]] }),
    ).toMatchObject({
      agrees: true,
    });
    expect(compared([{ a: 1, b: 2 }], [{ a: 1, b: 2.5 }])).toEqual({
      agrees: false,
      largest: 0.5,
      where: 'b',
    });
    expect(compared([{ a: 1 }], [{ a: 1, b: 1 }])).toMatchObject({ agrees: false, where: 'b' });
    expect(compared([{ a: 'x' }], [{ a: 'y' }])).toMatchObject({ agrees: false, largest: 0 });
    expect(compared([{ a: 1 }], [{ a: 'NaN' }]).agrees).toBe(false);
    // NaN where there was a number is no agreement.
    const nan = { ...json(0), bytes: Buffer.from('[{"a":NaN}]') };
    expect(differenceOf(json([{ a: 1 }]), nan, tolerance).agrees).toBe(false);
  });

  test.each([
    [{ class: 2000, score: 0.5 }, { class: 2001, score: 0.5 }, 'class'],
    [{ ids: [12000, 7001] }, { ids: [12001, 7001] }, 'ids[0]'],
    [[9007199254740993n], [9007199254740995n], 'value'],
  ])(
    'with another class or id disagree, whatever part of its number is allowed: %j',
    (one, other, where) => {
      const body = (value: unknown) => ({ ...json(0), bytes: Buffer.from(jsonText([value])) });
      const loose = { absolute: 1e-5, relative: 1e-3 };
      expect(differenceOf(body(one), body(other), loose)).toMatchObject({ agrees: false, where });
      const ofInts = (values: number[]) => ({
        contentType: 'application/x-npy',
        bytes: Buffer.concat(encodeNpy(tensorFromValues('int32', [values.length, 1], values))),
      });
      const compare = (a: number[], b: number[], near = loose) =>
        differenceOf(ofInts(a), ofInts(b), near);
      expect(compare([30522, 1], [30523, 1]).agrees).toBe(false);
      expect(compare([30522, 1], [30523, 1], { absolute: 1, relative: 0 }).agrees).toBe(true);
      const csv = (text: string) => ({ contentType: 'text/csv', bytes: Buffer.from(text) });
      expect(differenceOf(csv('7000'), csv('7001'), loose).agrees).toBe(false);
      expect(differenceOf(csv('7000.0'), csv('7001.0'), loose).agrees).toBe(true);
    },
  );

  test('with an infinity agree with the same one alone', () => {
    const loose = { absolute: 1e-5, relative: 1e-3 };
    const text = (of: string) => ({ ...json(0), bytes: Buffer.from(`[{"a":${of}}]`) });
    const csv = (of: string) => ({ contentType: 'text/csv', bytes: Buffer.from(of) });
    for (const [one, other, agrees] of [
      ['Infinity', '1.0', false],
      ['Infinity', '-Infinity', false],
      ['1.0', 'Infinity', false],
      ['NaN', 'Infinity', false],
      ['Infinity', 'Infinity ', true],
      ['NaN', 'NaN ', true],
    ] as const) {
      expect(differenceOf(text(one), text(other), loose)).toMatchObject({ agrees });
      expect(differenceOf(csv(one.replace('inity', '')), csv(other), loose)).toMatchObject({
        agrees,
      });
    }
  });

  test('with another class disagree, however near their scores are', () => {
    expect(
      compared({ predictions: [[0.499, 0.501]] }, { predictions: [[0.501, 0.499]] }),
    ).toMatchObject({
      agrees: false,
      where: 'value.argmax',
    });
  });

  test('of other media types agree byte for byte', () => {
    const body = (text: string) => ({ contentType: 'image/png', bytes: Buffer.from(text) });
    expect(differenceOf(body('a'), body('a'), tolerance).agrees).toBe(true);
    expect(differenceOf(body('a'), body('b'), tolerance).agrees).toBe(false);
  });
});
