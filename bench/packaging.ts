/** `model.tar.gz` of a large model: against `tar czf`, on one core and on all. */
import { randomFillSync } from 'node:crypto';
import { cpSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Bench, BenchContext, Findings, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { ensureModel } from './lib/models.ts';
import { programPath } from './lib/programs.ts';
import { removeDirectory, temporaryDirectory } from './lib/temporary.ts';

const TAR = 'tar czf';
const MEGABYTE = 1_000_000;

export const packaging: Bench = {
  name: 'packaging',
  question: 'How fast does a large model become model.tar.gz?',
  async run(context): Promise<Findings> {
    const work = temporaryDirectory();
    try {
      return await compare(work, context);
    } finally {
      removeDirectory(work);
    }
  },
};

async function compare(work: string, context: BenchContext): Promise<Findings> {
  const { modelMegabytes, log } = context;
  const source = join(work, 'source', 'model');
  cpSync(join(await ensureModel('json-row'), 'model'), source, { recursive: true });
  await writeWeights(join(source, '1', 'assets', 'weights.bin'), modelMegabytes);
  const archive = join(work, 'model.tar.gz');
  const rows: Row[] = [];
  const add = async (name: string, run: () => Promise<number | undefined>) => {
    const from = performance.now();
    const resident = await run();
    const seconds = (performance.now() - from) / 1_000;
    const rate = modelMegabytes / seconds;
    rows.push({ name, seconds, rate, archive: statSync(archive).size / 1e6, resident });
    log(`${name}: ${seconds.toFixed(1)} s`);
    rmSync(archive);
  };
  await add(TAR, async () => {
    await execa('tar', ['czf', archive, '-C', join(work, 'source'), 'model']);
    return undefined;
  });
  for (const [name, prefix, level] of [
    ['sagemaker-tfs package, one core', ['taskset', '-c', '0'], 6],
    [`sagemaker-tfs package, ${availableParallelism()} cores`, [], 6],
    [`sagemaker-tfs package --level 1, ${availableParallelism()} cores`, [], 1],
  ] as const) {
    await add(name, () => packageOnce([...prefix], source, archive, level));
  }
  const base = Number(rows[0]?.seconds);
  return {
    tables: [
      {
        title: `A model of ${modelMegabytes} MB (baseline: ${TAR})`,
        columns: columns({
          name: 'Program',
          seconds: 'Seconds',
          rate: 'MB/s',
          archive: 'Archive MB',
          resident: 'Peak resident MB',
          ratio: 'Times as fast as the baseline',
        }),
        rows: rows.map((row) => ({ ...row, ratio: base / Number(row.seconds) })),
      },
    ],
    notes: [
      'The weights are random float32, made for the run: as hard to compress as a trained model. `npm run bench -- --only packaging --model-size 2000` measures a model of 2 GB.',
    ],
  };
}

async function packageOnce(
  prefix: string[],
  source: string,
  out: string,
  level: number,
): Promise<number> {
  const [command = '', ...args] = [
    ...prefix,
    process.execPath,
    programPath('package-once'),
    source,
    out,
    String(level),
  ];
  const { stdout } = await execa(command, args, { stderr: 'inherit' });
  return (JSON.parse(stdout) as { maxResidentBytes: number }).maxResidentBytes / 1e6;
}

/** Normally distributed float32, as weights are. */
async function writeWeights(path: string, megabytes: number): Promise<void> {
  const file = await open(path, 'w');
  const bytes = new Uint32Array(MEGABYTE / 4);
  const weights = new Float32Array(MEGABYTE / 4);
  for (let written = 0; written < megabytes; written++) {
    randomFillSync(bytes);
    for (let at = 0; at < weights.length; at += 2) {
      const radius = Math.sqrt(-2 * Math.log(((bytes[at] as number) + 1) / 2 ** 32));
      const angle = (2 * Math.PI * (bytes[at + 1] as number)) / 2 ** 32;
      weights[at] = 0.05 * radius * Math.cos(angle);
      weights[at + 1] = 0.05 * radius * Math.sin(angle);
    }
    await file.write(new Uint8Array(weights.buffer));
  }
  await file.close();
}
