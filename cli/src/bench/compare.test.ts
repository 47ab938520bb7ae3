/** Comparisons of two runs: right about noise and about differences, on series whose truth is known. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StubContainer, sagemakerTfs, startStub } from '../batch/test-support.ts';
import { summarize } from '../output/latency.ts';
import { styleOf } from '../output/style.ts';
import { comparisonLines } from '../terminal/comparison-lines.ts';
import { type BenchRun, readBenchRun } from './bench-run.ts';
import { compareRuns, differencesOf } from './compare.ts';
import { uniform } from './random.ts';
import { ratioOf } from './ratio.ts';
import { studentQuantile } from './ratio-of-runs.ts';

/** Latencies that resemble their neighbors, as those of a server do: log-normal, with a memory. */
function series(seed: number, count: number, scale = 1, memory = 0.6): number[] {
  const random = uniform(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let state = normal();
  return Array.from({ length: count }, () => {
    state = memory * state + Math.sqrt(1 - memory ** 2) * normal();
    return scale * 5 * Math.exp(0.3 * state);
  });
}

function runOf(milliseconds: readonly number[], change: Partial<BenchRun> = {}): BenchRun {
  const latency = summarize(milliseconds);
  return {
    date: '2026-01-02T03:04:05.000Z',
    machine: {
      cpu: 'A',
      cores: 2,
      memoryGiB: 4,
      platform: 'linux 6',
      node: '20.19.0',
      command: '0.1.0',
    },
    model: { fingerprint: '0011223344556677' },
    target: 'http://127.0.0.1:8080',
    request: {
      file: 'a.jpg',
      bytes: 3,
      sha256: 'ab'.repeat(32),
      contentType: 'image/jpeg',
      requests: milliseconds.length,
      inFlight: 1,
    },
    results: [
      {
        transport: 'own',
        latency,
        firstMs: 9,
        requestsPerSecond: 1_000 / latency.mean,
        responseBytes: 10,
        milliseconds: [...milliseconds] as [number, ...number[]],
      },
    ],
    ...change,
  };
}

const ROUNDS = 30;
const rounds = Array.from({ length: ROUNDS }, (_, at) => at);

test.each(['mean', 'p50', 'p95'] as const)(
  'the interval of the ratio of %s holds the truth about as often as it says',
  (statistic) => {
    const holds = (scale: number) =>
      rounds.filter((at) => {
        const before = series(2 * at + 1, 300);
        const after = series(2 * at + 2, 300, scale);
        const { low, high } = ratioOf(statistic, before, after);
        return low <= scale && scale <= high;
      }).length;
    // 95% of 30 is 28; a bootstrap of 20 blocks is a little narrow.
    expect(holds(1)).toBeGreaterThanOrEqual(25);
    expect(holds(1.3)).toBeGreaterThanOrEqual(25);
  },
);

test('the same server twice is noise; one that is a fifth slower is found, in every measure but seldom in P95', () => {
  const verdicts = (scale: number) =>
    rounds
      .slice(0, 15)
      .flatMap((at) =>
        compareRuns([runOf(series(2 * at + 1, 400))], [runOf(series(2 * at + 2, 400, scale))]),
      );
  const same = verdicts(1);
  expect(same.filter(({ verdict }) => verdict !== 'noise').length / same.length).toBeLessThan(0.05);
  const slower = verdicts(1.2).filter(({ measure }) => measure !== 'P95');
  const found = slower.filter(({ verdict }) => verdict === 'slower');
  expect(found.length / slower.length).toBeGreaterThan(0.85);
  expect(slower.some(({ verdict }) => verdict === 'faster')).toBe(false);
});

test('more requests a second is faster, longer is slower, and ratios are after to before', () => {
  const [before, after] = [runOf(series(1, 1_000)), runOf(series(2, 1_000, 0.5))];
  const verdicts = compareRuns([before], [after]);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(Array(4).fill('faster'));
  const [mean, , , rate] = verdicts;
  expect(mean?.ratio).toBeCloseTo(0.5, 1);
  expect(rate?.ratio).toBeCloseTo(2, 0);
  expect(rate?.interval?.low).toBeGreaterThan(1.5);
  for (const { verdict } of compareRuns([after], [before])) expect(verdict).toBe('slower');
});

test('a run that drifts by as much as the runs differ shows no difference', () => {
  const drifting = [...series(1, 500), ...series(2, 500, 1.6)];
  for (const { verdict } of compareRuns([runOf(series(3, 1_000))], [runOf(drifting)])) {
    expect(verdict).toBe('noise');
  }
});

test('few requests, an even clock and transports of one run alone', () => {
  for (const comparison of compareRuns([runOf([1, 2, 3])], [runOf([2, 3, 4])])) {
    expect(comparison).toMatchObject({ verdict: 'unknown' });
    expect(comparison).not.toHaveProperty('interval');
  }
  const even = runOf(Array(50).fill(4));
  expect(compareRuns([even], [even]).map(({ ratio, verdict }) => [ratio, verdict])).toEqual(
    Array(4).fill([1, 'noise']),
  );
  const [result] = even.results;
  const rest = runOf([1], { results: [{ ...result, transport: 'rest' }] as BenchRun['results'] });
  expect(compareRuns([even], [rest])).toEqual([]);
});

describe('several runs of each side', () => {
  test("Student's t is that of the tables", () => {
    const table = [
      [2, 4.303],
      [3, 3.182],
      [5, 2.571],
      [10, 2.228],
      [30, 2.042],
    ] as const;
    for (const [freedom, quantile] of table) {
      expect(Math.abs(studentQuantile(freedom) / quantile - 1)).toBeLessThan(0.04);
    }
  });

  /** Runs that differ from each other by a fifth, as those of a busy machine do. */
  const runsOf = (seed: number, scale: number) => {
    const random = uniform(seed);
    return Array.from({ length: 4 }, () => {
      const shift = Math.exp(0.4 * (random() + random() + random() - 1.5));
      return runOf(series(Math.ceil(1e6 * random()), 60, scale * shift));
    });
  };

  test('one server whose runs differ is noise nearly always, where single runs are called different', () => {
    const shareOf = (count: number, pairs: number) => {
      const many = Array.from({ length: pairs }, (_, at) => at);
      const called = many.flatMap((at) => {
        const [before, after] = [runsOf(2 * at + 1, 1), runsOf(2 * at + 2, 1)];
        return compareRuns(before.slice(0, count), after.slice(0, count))
          .filter(({ measure }) => measure === 'P50')
          .filter(({ verdict }) => verdict !== 'noise');
      });
      return called.length / many.length;
    };
    expect(shareOf(4, 100)).toBeLessThan(0.1);
    expect(shareOf(1, 40)).toBeGreaterThan(0.15);
  });

  test('one that takes three times as long is found', () => {
    for (const { verdict, ratio } of compareRuns(runsOf(1, 1), runsOf(2, 3))) {
      expect(verdict).toBe('slower');
      expect(Math.max(ratio, 1 / ratio)).toBeGreaterThan(2);
    }
  });

  test('runs that differ among themselves are named', () => {
    const runs = [runOf([1]), runOf([1], { target: 'b' }), runOf([1], { model: {} })];
    expect(differencesOf(runs, runs)).toEqual([
      {
        what: 'model',
        before: '0011223344556677 and unknown',
        after: '0011223344556677 and unknown',
      },
    ]);
  });
});

test('what differs besides the times', () => {
  const one = runOf([1]);
  expect(differencesOf([one], [runOf([2], { date: 'later' })])).toEqual([]);
  const other = runOf([2], {
    machine: { ...one.machine, cpu: 'B', node: '24.1.0' },
    model: { fingerprint: '8899aabbccddeeff' },
    request: { ...one.request, inFlight: 4 },
  });
  expect(differencesOf([one], [other])).toEqual([
    { what: 'machine', before: 'A, 2 cores, 4 GiB', after: 'B, 2 cores, 4 GiB' },
    { what: 'Node', before: '20.19.0', after: '24.1.0' },
    { what: 'model', before: '0011223344556677', after: '8899aabbccddeeff' },
    { what: 'in flight', before: '1', after: '4' },
  ]);
});

test.each([80, 40])('what is shown fits %i columns, and nothing is cut', (width) => {
  const of = (seed: number, scale: number) => {
    const [own] = runOf(series(seed, 100, scale)).results;
    const results = ['grpc', 'rest'].map((transport) => ({ ...own, transport }));
    return runOf([1], { results: results as unknown as BenchRun['results'] });
  };
  const [before, after] = [[of(1, 2_000)], [of(2, 90_000)]];
  const other = { what: 'machine', before: 'a'.repeat(100), after: 'b' };
  const style = styleOf({ isTTY: true, columns: width } as NodeJS.WriteStream, {
    NO_COLOR: '1',
  });
  const lines = comparisonLines(compareRuns(before, after), [other], 1, style);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  const text = lines.join(' ').replace(/\s+/g, ' ');
  expect(text).toMatch(/^grpc, .* slower .* rest, .* slower .*A1,A2,A3 B1,B2,B3\.$/);
  expect(text).not.toContain('…');
});

describe('bench --compare', () => {
  let work: string;
  let stub: StubContainer;
  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'compare-test-'));
    stub = await startStub(() => '{}');
  });
  afterAll(async () => {
    await stub.close();
    await rm(work, { recursive: true, force: true });
  });

  test('reads what bench --json writes, and names another machine', async () => {
    const sample = join(work, 'a.json');
    await writeFile(sample, '{}');
    const run = await sagemakerTfs(
      ['bench', sample, '--url', stub.url, '--requests', '40', '--json'],
      { NO_COLOR: '1' },
    );
    const [before, after] = [join(work, 'before.json'), join(work, 'after.json')];
    await writeFile(before, run.stdout);
    const parsed = JSON.parse(run.stdout) as BenchRun;
    expect(parsed.results[0]?.milliseconds).toHaveLength(40);
    await writeFile(
      after,
      JSON.stringify({ ...parsed, machine: { ...parsed.machine, cpu: 'Another' } }),
    );
    const { stdout, exitCode } = await sagemakerTfs(['bench', '--compare', before, after]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/P95 .* 1\.00 .* no difference beyond noise/);
    expect(stdout).toContain('The machines differ');
    const several = [[before, after, before].join(), [before, before, before].join()];
    const runs = await sagemakerTfs(['bench', '--compare', ...several]);
    expect(runs.stdout).toContain('The interval is that of the runs');
    const json = await sagemakerTfs(['bench', '--compare', before, after, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      comparisons: [{ measure: 'mean', ratio: 1 }, {}, {}, {}],
      differences: [{ what: 'machine', after: expect.stringMatching(/^Another, /) }],
    });
  });

  test.each([
    ['one file', ['--compare', 'a.json'], 2, 'takes two results'],
    ['a body too', ['body.json', '--compare', 'a.json', 'b.json'], 2, 'takes two results'],
    ['a report', ['--compare', 'a.json', 'b.json', '--report', 'r.html'], 2, 'exclude each other'],
    ['two runs', ['--compare', 'a.json,b.json', 'c.json,d.json'], 2, 'or at least 3'],
    ['a missing file', ['--compare', 'no-a.json', 'no-b.json'], 2, 'no-a.json'],
    ['no file at all', [], 2, 'the request body is missing'],
  ])('refuses %s', async (_, args, status, says) => {
    const { exitCode, stderr } = await sagemakerTfs(['bench', ...args]);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: status,
      stderr: expect.stringContaining(says),
    });
  });

  test.each([
    ['[]', 'a list is not an object'],
    ['{"results": []}', 'date: missing'],
    ['', 'it is empty'],
    ['not json', "'not json' is not an object"],
    ['{"date": 1}', 'date: 1 is not a text'],
    [
      JSON.stringify(runOf([1], { results: [] as never })),
      'results: it has to have at least 1 entry',
    ],
    [
      JSON.stringify(runOf([1])).slice(0, 200),
      `'{"date":"2026-01-02T03:04:05.000Z","mach...' is not an object`,
    ],
  ])('refuses %s: which file, what is wrong, what to do', async (text, says) => {
    const file = join(work, 'other.json');
    await writeFile(file, text);
    await expect(readBenchRun(file)).rejects.toMatchObject({
      code: 'RUN_INVALID',
      message: `${file} is no result of bench: ${says}. Write one with bench FILE --json > ${file}.`,
    });
  });
});
