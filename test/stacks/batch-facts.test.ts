/** The state machine executed against a SageMaker of other habits than we assume, with the facts of `batch probe`. */
import { ASSUMED_FACTS, type TransformFacts } from '@sagemaker-tfs/batch';
import { batchTemplate, failed, functionOn, type Job, machineOf, run } from './batch-machine.ts';
import { putInputs, type S3StandIn, startS3ForSdk } from './s3-stand-in.ts';

const machine = machineOf(
  batchTemplate(() => ({ sharding: { objectsPerShard: 3, maxConcurrentJobs: 1 } })),
);
const NAMES = ['a.jpg', 'b c.jpg', 'd.jpg', 'e/ü.jpg', 'f%20.jpg', 'g+.jpg'];

let s3: S3StandIn;
beforeEach(async () => {
  s3 = await startS3ForSdk(50);
  putInputs(s3, NAMES, s3.now - 1);
});
afterEach(() => s3.close());

const know = (facts: Partial<TransformFacts>) =>
  s3.objects.set(
    'data/output/_shards/facts.json',
    Buffer.from(JSON.stringify({ ...ASSUMED_FACTS, ...facts })),
  );

function keysOf({ TransformInput }: Job): string[] {
  const manifest = s3.objects.get(TransformInput.DataSource.S3DataSource.S3Uri.slice(5));
  return (JSON.parse(String(manifest)) as unknown[]).slice(1) as string[];
}

/** Writes outputs where `place` says. */
const answer = (place: (key: string) => string) => (job: Job) => {
  for (const key of keysOf(job)) s3.objects.set(`data/output/${place(key)}`, Buffer.from('{}'));
};

const start = (transform: (job: Job) => unknown) =>
  run(machine, { runId: 'r' }, transform, functionOn(s3));

/** Reasons of dead letters by key. */
function deadLetters(): Record<string, string> {
  const files = [...s3.objects].filter(([path]) => path.includes('/dead-letters/'));
  const lines = files.flatMap(([, body]) => String(body).trim().split('\n'));
  return Object.fromEntries(
    lines.map((line) => {
      const { key, reason } = JSON.parse(line) as { key: string; reason: string };
      return [key, reason];
    }),
  );
}

test('outputs under whole keys are found where the facts say so, and only there', async () => {
  const elsewhere = answer((key) => `input/${key}.out`);
  expect((await start(elsewhere)).output).toMatchObject({ error: 'TooManyFailures' });
  know({ layout: 'wholeKey' });
  const { jobs, output } = await start(elsewhere);
  expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
  // The first shard's outputs are there, though the run without facts did not see them.
  expect(jobs.flatMap(keysOf)).toEqual(NAMES.slice(3));
});

test('names whose outputs would be lost are dead letters, and no job is paid for them', async () => {
  know({ lostNames: ['space', 'unicode'] });
  const { jobs, output } = await start(answer((key) => `${key}.out`));
  expect(jobs.flatMap(keysOf)).toEqual(['a.jpg', 'd.jpg', 'f%20.jpg', 'g+.jpg']);
  expect(output).toMatchObject({ error: 'Incomplete' });
  expect(deadLetters()).toEqual({
    'b c.jpg': expect.stringContaining('(space)'),
    'e/ü.jpg': expect.stringContaining('(unicode)'),
  });
});

test.each<[TransformFacts['layout'], string[]]>([
  ['name', ['e/ü.jpg']],
  ['unknown', NAMES],
])('layout %s: what could not be found is not sent', async (layout, letters) => {
  know({ layout });
  const { jobs } = await start(answer((key) => `${key}.out`));
  expect(jobs.flatMap(keysOf)).toEqual(NAMES.filter((name) => !letters.includes(name)));
  expect(Object.keys(deadLetters()).sort()).toEqual([...letters].sort());
});

test.each([true, false])(
  'a deletion between count and job, where it stops the job is known: %s',
  async (deletedKeyStopsJob) => {
    know({ deletedKeyStopsJob });
    let deletions = 2;
    const { jobs, output } = await start((job) => {
      if (deletions-- > 0) s3.objects.delete(`data/input/${keysOf(job).at(-1)}`);
      if (keysOf(job).some((key) => !s3.objects.has(`data/input/${key}`)))
        throw failed('NoSuchKey');
      answer((key) => `${key}.out`)(job);
    });
    if (deletedKeyStopsJob) {
      expect(output).toMatchObject({ done: 4, missing: 0, deleted: 2 });
      // The first shard three times, the second once.
      expect(jobs).toHaveLength(4);
    } else {
      expect(output).toMatchObject({ error: 'TooManyFailures' });
    }
  },
);

test('no manifest is longer than the longest that a job has taken', async () => {
  for (let number = 0; number < 300; number++) {
    s3.objects.set(`data/input/${'ü'.repeat(20)}-${number}.jpg`, Buffer.from('x'));
  }
  know({ manifestBytes: 3_000 });
  const settings = { runId: 'r', objectsPerShard: 1_000 };
  const { output } = await run(
    machine,
    settings,
    answer((key) => `${key}.out`),
    functionOn(s3),
  );
  expect(output).toMatchObject({ done: NAMES.length + 300 });
  const planned = [...s3.objects].filter(([path]) => path.includes('/planned/'));
  expect(planned.length).toBeGreaterThan(5);
  expect(Math.max(...planned.map(([, body]) => body.length))).toBeLessThanOrEqual(3_000);
});

test('facts that cannot be read end the run with their name', async () => {
  s3.objects.set('data/output/_shards/facts.json', Buffer.from('{"layout": "other"}'));
  expect((await start(() => {})).output).toMatchObject({
    error: 'ShardsFailed',
    cause: expect.stringContaining('s3://data/output/_shards/facts.json is not what'),
  });
});
