/** Requests that may run together have the answers that they have alone, whatever the model does with its rows. */
import { numericTensor, type Signature, toNumbers } from '@sagemaker-tfs/tensors';
import { BatchThreads } from './batch-queue.ts';
import { JoiningSession, type JoiningSessionOptions } from './joining.ts';
import type { Session } from './session.ts';

type Matrix = readonly (readonly number[])[];
/** What a model makes of its rows. */
type Model = (rows: Matrix) => Matrix;

const OPTIONS: JoiningSessionOptions = {
  maxBatchSize: 8,
  maxInputRows: 100,
  timeoutMs: 1,
  maxEnqueuedBatches: 1000,
  numBatchThreads: 2,
  allowedBatchSizes: [],
  padVariableLengthInputs: false,
  // Nothing is looked at again.
  random: () => 0.999,
  afterFailure: () => 'halves',
};

const spec = { tensorName: 'x:0', dtype: 'float32', dtypeEnum: 1, shape: [-1, -1] } as const;
const signature: Signature = {
  key: 'serving_default',
  methodName: 'tensorflow/serving/predict',
  inputs: { x: spec },
  outputs: { y: spec },
};

function tensorOf(rows: Matrix) {
  return numericTensor(
    'float32',
    [rows.length, rows[0]?.length ?? 0],
    new Float32Array(rows.flat()),
  );
}

function serve(model: Model, options: Partial<JoiningSessionOptions>) {
  const sizes: number[] = [];
  const session: Session = {
    signatures: { serving_default: signature },
    run: async (_signature, { x }) => {
      if (!x || x.dtype === 'string') throw new Error('no numbers');
      const [count = 0, width = 0] = x.shape;
      sizes.push(count);
      const numbers = [...toNumbers(x)].map(Number);
      const rows = Array.from({ length: count }, (_, at) =>
        numbers.slice(at * width, (at + 1) * width),
      );
      await new Promise((resolve) => setImmediate(resolve));
      return { outputs: { y: tensorOf(model(rows)) }, release: () => undefined };
    },
    close: async () => undefined,
  };
  const why: string[] = [];
  const batching = new JoiningSession(
    session,
    { ...OPTIONS, ...options, onAlone: (_signature, reason) => why.push(reason) },
    new BatchThreads(2),
  );
  const ask = async (rows: Matrix) => {
    const { outputs } = await batching.run('serving_default', { x: tensorOf(rows) }, ['y']);
    return outputs.y;
  };
  return { ask, sizes, why };
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const dot = (a: readonly number[], b: readonly number[]) =>
  sum(a.map((one, at) => one * (b[at] ?? 0)));

/** Models whose rows depend on each other, in ways that shapes show and do not. */
const DEPENDENT: Record<string, Model> = {
  'a product of all rows with all': (rows) =>
    rows.map((row) => rows.map((other) => dot(row, other))),
  'sorted rows': (rows) => [...rows].sort((a, b) => (b[0] ?? 0) - (a[0] ?? 0)),
  'the four largest': (rows) => [...rows].sort((a, b) => (b[0] ?? 0) - (a[0] ?? 0)).slice(0, 4),
  'less their mean': (rows) =>
    rows.map(([x = 0]) => [x - sum(rows.map(([y = 0]) => y)) / rows.length]),
  'a running sum': (rows) => rows.map((_, at) => [sum(rows.slice(0, at + 1).map(([y = 0]) => y))]),
  'each number once': (rows) => [...new Set(rows.map(([x = 0]) => x))].map((x) => [x]),
  'always four rows': () => [[1], [2], [3], [4]],
  'only the positive': (rows) => rows.filter(([x = 0]) => x > 0),
  'an id beside a score less their mean': (rows) =>
    rows.map(([x = 0]) => [1e6 + x, x - sum(rows.map(([y = 0]) => y)) / rows.length]),
  'a score among a hundred numbers of one size': (rows) =>
    rows.map(([x = 0]) => [
      ...Array.from({ length: 99 }, (_, at) => 1e6 * (at + 1) + x),
      x - Math.min(...rows.map(([y = 0]) => y)),
    ]),
  'a tenth of their mean more': (rows) =>
    rows.map(([x = 0]) => [x + (0.1 * sum(rows.map(([y = 0]) => y))) / rows.length]),
  'the number of rows': (rows) => rows.map(() => [rows.length]),
};
const INDEPENDENT: Record<string, Model> = {
  doubled: (rows) => rows.map(([x = 0]) => [2 * x]),
  'rounded otherwise when joined': (rows) => rows.map(([x = 0]) => [x * (1 + 1e-4 * rows.length)]),
  'numbers around zero, rounded otherwise when joined': (rows) =>
    rows.map(([x = 0]) =>
      Array.from(
        { length: 300 },
        (_, at) => Math.sin((7.3 + x) * at) + 1e-6 * rows.length * Math.sin(3 * at),
      ),
    ),
  'an id beside zeros that rounding makes something of': (rows) =>
    rows.map(([x = 0], row) => [
      1e6 + x,
      ...Array.from({ length: 99 }, (_, at) =>
        rows.length > 3 && at === rows.length && row === 1 ? 1e-9 : 0,
      ),
    ]),
};

const WAYS: Record<string, Partial<JoiningSessionOptions>> = {
  'as they come': {},
  'filled up': { allowedBatchSizes: [4, 8] },
};

/** Numbers that repeat from run to run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Rounds of requests: first a caller by itself, then one row over and over, as a load test has it, then all kinds. */
function rounds(random: () => number): Matrix[][] {
  const row = () => [Math.round(random() * 40) / 4 - 3];
  const request = () => Array.from({ length: 1 + Math.floor(random() * 3) }, row);
  const same = row();
  return [
    [[row()]],
    ...Array.from({ length: 12 }, () => Array.from({ length: 6 }, () => [same])),
    ...Array.from({ length: 20 }, () => Array.from({ length: 6 }, request)),
    [Array.from({ length: 12 }, row), [row()], Array.from({ length: 9 }, row)],
    ...Array.from({ length: 5 }, () => Array.from({ length: 3 }, () => [row()])),
  ];
}

describe.each(Object.entries(WAYS))('batches %s', (_way, options) => {
  test.each(Object.entries(DEPENDENT))('%s: every answer is its own', async (_name, model) => {
    const { ask, why, sizes } = serve(model, options);
    for (const requests of rounds(numbersFrom(7))) {
      const answers = await Promise.all(requests.map(ask));
      expect(answers).toEqual(requests.map((rows) => tensorOf(model(rows))));
    }
    expect(why).toEqual(['joined']);
    sizes.length = 0;
    await Promise.all([1, 2, 3].map((x) => ask([[x]])));
    expect(sizes).toEqual([1, 1, 1]);
  });

  test.each(Object.entries(INDEPENDENT))('%s: joined after a few batches', async (_name, model) => {
    const { ask, why, sizes } = serve(model, options);
    for (const requests of rounds(numbersFrom(7))) {
      const answers = await Promise.all(requests.map(ask));
      const numbers = answers.map((y) => (y && y.dtype !== 'string' ? [...toNumbers(y)] : []));
      requests.forEach((rows, at) => {
        const wanted = model(rows).flat();
        const apart = wanted.map((x, place) => Math.abs(Number(numbers[at]?.[place]) - x));
        expect(numbers[at]).toHaveLength(wanted.length);
        expect(Math.max(...apart)).toBeLessThan(0.02);
      });
    }
    expect(why).toEqual([]);
    sizes.length = 0;
    await Promise.all([1, 2, 3].map((x) => ask([[x]])));
    expect(sizes).toHaveLength(1);
  });
});

test('rows that change when shorter ones are padded run apart from longer ones, and together with their like', async () => {
  const widths: Model = (rows) => rows.map((row) => [row.length]);
  const { ask, why, sizes } = serve(widths, { padVariableLengthInputs: true });
  for (let round = 0; round < 8; round++) {
    const requests = [[[1, 2]], [[3]], [[4, 5]], [[round, 7]], [[8]], [[9, round]]];
    const answers = await Promise.all(requests.map(ask));
    expect(answers).toEqual(requests.map((rows) => tensorOf(widths(rows))));
  }
  expect(why).toEqual(['padded']);
  sizes.length = 0;
  await Promise.all([[[1, 2]], [[3]], [[4, 5]]].map(ask));
  expect([...sizes].sort()).toEqual([1, 2]);
});

test('rows that padding does not change are padded and joined', async () => {
  const first: Model = (rows) => rows.map(([x = 0]) => [x]);
  const { ask, why, sizes } = serve(first, { padVariableLengthInputs: true });
  for (let round = 0; round < 8; round++) {
    const requests = [[[1, 2]], [[3]], [[4, 5]], [[round, 7]]];
    expect(await Promise.all(requests.map(ask))).toEqual(
      requests.map((rows) => tensorOf(first(rows))),
    );
  }
  expect(why).toEqual([]);
  sizes.length = 0;
  await Promise.all([[[1, 2]], [[3]], [[4, 5]]].map(ask));
  expect(sizes).toEqual([3]);
});

test('what is no number is no proof', async () => {
  const { ask, why } = serve(
    (rows) => rows.map(([x = 0]) => [rows.length > 1 && x > 5 ? Number.NaN : x]),
    {},
  );
  await Promise.all([6, 7].map((x) => ask([[x]])));
  expect(why).toEqual([]);
  expect(await Promise.all([8, 9].map((x) => ask([[x]])))).toEqual(
    [8, 9].map((x) => tensorOf([[x]])),
  );
});

describe('what one caller shows is no proof for the rows of several', () => {
  /** Whether a row is the greatest of its request. */
  const top: Model = (rows) => {
    const most = Math.max(...rows.map(([x = 0]) => x));
    return rows.map(([x = 0]) => [x, x === most ? 1 : 0]);
  };
  /** The first column's number, counted by its first appearance: 0 in a request of one number. */
  const place: Model = (rows) => {
    const seen = [...new Set(rows.map(([x = 0]) => x))];
    return rows.map(([x = 0, y = 0]) => [seen.indexOf(x), y]);
  };
  const pair = (at: number): Matrix => [[at], [at + 0.5]];
  const large = (at: number): Matrix => Array.from({ length: 40 }, (_, y) => [at, y + at]);
  const others = Array.from({ length: 6 }, (_, at) => [[50 + 7 * at, at]]);

  test.each([
    [
      'filled up',
      top,
      { allowedBatchSizes: [8] },
      (at: number): Matrix => [...pair(at), ...pair(-at)],
    ],
    ['in several batches', place, {}, large],
  ])('requests that run %s', async (_, model, options, request) => {
    const { ask, why, sizes } = serve(model, options);
    for (let at = 1; at <= 20; at++) {
      expect(await ask(request(at))).toEqual(tensorOf(model(request(at))));
    }
    // It runs in that way alone by then.
    sizes.length = 0;
    await ask(request(21));
    expect(sizes).not.toContain(request(21).length);
    expect(why).toEqual([]);
    expect(await Promise.all(others.map(ask))).toEqual(others.map((rows) => tensorOf(model(rows))));
    expect(why).toEqual(['joined']);
  });
});

describe('batches larger than those that were tried', () => {
  const most = 64;
  /** Other numbers in calls of more than 16 rows. */
  const big: Model = (rows) => rows.map(([x = 0]) => [rows.length > 16 ? 2 * x : x]);
  /** A mixture of two experts: rows that come to one after its eighth get zeros. */
  const experts: Model = (rows) => {
    const held = new Map<boolean, number>();
    return rows.map(([x = 0]) => {
      const place = (held.get(x > 0) ?? 0) + 1;
      held.set(x > 0, place);
      return [place > 8 ? 0 : x];
    });
  };
  const singles = (count: number, from = 1) =>
    Array.from({ length: count }, (_, at): Matrix => [[from + at]]);
  const request = (count: number, from: number): Matrix =>
    Array.from({ length: count }, (_, at) => [from + at]);

  async function expectOwn(
    { ask }: ReturnType<typeof serve>,
    model: Model,
    requests: readonly Matrix[],
  ): Promise<void> {
    expect(await Promise.all(requests.map(ask))).toEqual(
      requests.map((rows) => tensorOf(model(rows))),
    );
  }

  describe.each([
    ['a bound in the graph', big],
    ['experts with a capacity', experts],
  ])('%s', (_name, model) => {
    test.each<[string, Partial<JoiningSessionOptions>, readonly Matrix[], readonly Matrix[]]>([
      ['after small batches', {}, singles(8), singles(48)],
      [
        'after batches of large requests',
        {},
        [request(20, 1), request(20, 21), request(24, 41)],
        singles(48),
      ],
      [
        'padded to one width',
        { padVariableLengthInputs: true },
        singles(8).map(([row = []], at) => [at % 2 ? row : [...row, 1]]),
        singles(48).map(([row = []], at) => [at % 2 ? row : [...row, 1]]),
      ],
    ])('%s', async (_way, options, quiet, burst) => {
      const served = serve(model, { maxBatchSize: most, ...options });
      for (let times = 0; times < 12; times++) await expectOwn(served, model, quiet);
      for (let times = 0; times < 4; times++) await expectOwn(served, model, burst);
      served.sizes.length = 0;
      await expectOwn(served, model, burst);
      expect(served.sizes).toEqual(burst.map(() => 1));
    });

    test('filled up', async () => {
      const served = serve(model, { maxBatchSize: most, allowedBatchSizes: [8, 12, most] });
      for (let times = 0; times < 12; times++) await expectOwn(served, model, [request(5, times)]);
      for (let times = 0; times < 4; times++) await expectOwn(served, model, [request(13, times)]);
    });

    test('in several parts', async () => {
      const served = serve(model, { maxBatchSize: 4 });
      for (let times = 0; times < 12; times++) await expectOwn(served, model, [request(7, times)]);
      for (let times = 1; times < 4; times++) await expectOwn(served, model, [request(30, times)]);
    });
  });

  test('in several parts, the last smaller than those that were tried', async () => {
    const served = serve(big, { maxBatchSize: 20, maxInputRows: 100 });
    for (let times = 1; times < 12; times++) await expectOwn(served, big, [request(39, times)]);
    await expectOwn(served, big, [request(21, 1)]);
  });

  test('in several parts where the whole of a larger one fails', async () => {
    const small: Model = (rows) => {
      if (rows.length > 50) throw new Error('too large');
      return rows;
    };
    const served = serve(small, {});
    for (let times = 1; times < 5; times++) await expectOwn(served, small, [request(17, times)]);
    await expectOwn(served, (rows) => rows, [request(81, 1)]);
    expect(served.sizes).toContain(81);
  });

  const doubled: Model = (rows) => rows.map(([x = 0]) => [2 * x]);

  test('each new size is tried once, and smaller ones are not tried again', async () => {
    const served = serve(doubled, { maxBatchSize: most });
    for (let times = 0; times < 4; times++) await expectOwn(served, doubled, singles(8));
    for (const [count, sizes] of [
      [8, [8]],
      [40, [40, ...new Array(40).fill(1)]],
      [40, [40]],
      [20, [20]],
      [64, [64, ...new Array(64).fill(1)]],
      [64, [64]],
      [41, [41]],
    ] as const) {
      served.sizes.length = 0;
      await expectOwn(served, doubled, singles(count));
      expect(served.sizes).toEqual(sizes);
    }
    expect(served.why).toEqual([]);
  });

  test('of those that come at the same time one is tried; the others run in smaller batches', async () => {
    const served = serve(doubled, { maxBatchSize: most });
    for (let times = 0; times < 4; times++) await expectOwn(served, doubled, singles(16));
    served.sizes.length = 0;
    await expectOwn(served, doubled, singles(2 * most));
    const large = (rows: number) => served.sizes.filter((size) => size === rows).length;
    expect([large(most), large(1)]).toEqual([1, most]);
    expect(served.sizes.reduce((all, one) => all + one, 0)).toBe(3 * most);
  });

  test('who runs in a smaller batch gets an own error', async () => {
    const fails: Model = (rows) => {
      if (rows.some(([x]) => x === 100)) throw new Error('of 100');
      return doubled(rows);
    };
    const served = serve(fails, { maxBatchSize: most });
    for (let times = 0; times < 4; times++) await expectOwn(served, doubled, singles(16));
    const settled = await Promise.allSettled(singles(2 * most).map(served.ask));
    expect(settled.flatMap(({ status }, at) => (status === 'rejected' ? [at + 1] : []))).toEqual([
      100,
    ]);
  });
});

describe('looking again', () => {
  /** Rows of their own up to 100; beyond, each holds the largest of all as well. */
  const late: Model = (rows) => {
    const largest = Math.max(...rows.map(([x = 0]) => x));
    return rows.map(([x = 0]) => [largest > 100 ? x + largest : x]);
  };
  const request = (from: number) => Array.from({ length: 8 }, (_, at) => [[from + at]]);

  /** Asks eight requests at a time; how many answers are not their own. */
  async function wrong(ask: ReturnType<typeof serve>['ask'], from: number, times: number) {
    let count = 0;
    for (let at = 0; at < times; at++) {
      const requests = request(from + at);
      const answers = await Promise.all(requests.map(ask));
      count += requests.filter(
        (rows, one) => JSON.stringify(answers[one]) !== JSON.stringify(tensorOf(late(rows))),
      ).length;
    }
    return count;
  }

  test('rows that turn out to depend on each other later are joined no longer', async () => {
    const { ask, why, sizes } = serve(late, { random: numbersFrom(3) });
    expect(await wrong(ask, 1, 20)).toBe(0);
    expect(why).toEqual([]);
    await wrong(ask, 200, 600);
    expect(why).toEqual(['joined']);
    sizes.length = 0;
    expect(await wrong(ask, 200, 20)).toBe(0);
    expect(new Set(sizes)).toEqual(new Set([1]));
  });

  test('who is in a batch that is looked at gets what was answered alone', async () => {
    const { ask, why } = serve(late, { random: () => 0 });
    expect(await wrong(ask, 1, 10)).toBe(0);
    expect(await wrong(ask, 200, 10)).toBe(0);
    expect(why).toEqual(['joined']);
  });

  test('it costs one or two runs in a hundred', async () => {
    const { ask, sizes } = serve((rows) => rows, { random: numbersFrom(5) });
    for (let times = 0; times < 600; times++) await Promise.all(request(times).map(ask));
    sizes.length = 0;
    for (let times = 0; times < 2_000; times++) await Promise.all(request(times).map(ask));
    const alone = sizes.filter((size) => size === 1).length;
    expect(alone / sizes.length).toBeGreaterThan(0.005);
    expect(alone / sizes.length).toBeLessThan(0.03);
  });
});
