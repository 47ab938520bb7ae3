/** `npm run bench`: measures, writes `bench/results/` and `bench/RESULTS.md`. */
import { loadavg } from 'node:os';
import { delimiter } from 'node:path';
import { parseArgs } from 'node:util';
import { processorTicks, stolenSince } from '../tools/process-stats.ts';
import type { Bench, BenchContext } from './lib/bench.ts';
import { isMet } from './lib/bench.ts';
import { buildPrograms } from './lib/programs.ts';
import { prepareServer } from './lib/real-server.ts';
import { redrawCharts, writeReport, writeResult } from './lib/report.ts';
import { BENCHES } from './questions.ts';

const USAGE = `usage: npm run bench -- [--only NAME[,NAME]] [--quick] [--model-size MB] [--pictures COUNT]
                     [--model-server PATH]
       npm run bench -- --redraw

  --only        of these alone: ${BENCHES.map(({ name }) => name).join(', ')}
  --quick       short windows: figures to look at, none to keep
  --model-size  megabytes of the model that is packaged (default: 160, with --quick 64)
  --pictures    pictures of batch-local, and of each turn of full-load (default: 10000, with --quick 1000)
  --model-server  a tensorflow_model_server to measure with, or the directory that holds it (default: the first on PATH,
                else the local model server)
  --redraw      measures nothing: draws the charts and pages of the committed results again
`;

/** Seconds of a measured window. */
const WINDOW = { full: 1.3, quick: 0.6 };

interface Arguments {
  readonly chosen: readonly Bench[];
  readonly redraw: boolean;
  /** Path of a model server. */
  readonly modelServer: string | undefined;
  readonly context: BenchContext;
}

function readArguments(): Arguments | undefined {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'model-size': { type: 'string' },
      pictures: { type: 'string' },
      'model-server': { type: 'string' },
      redraw: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { quick } = values;
  const names = values.only?.split(',') ?? BENCHES.map(({ name }) => name);
  const chosen = BENCHES.filter(({ name }) => names.includes(name));
  const modelMegabytes = Number(values['model-size'] ?? (quick ? 64 : 160));
  const pictures = values.pictures === undefined ? undefined : Number(values.pictures);
  const valid = chosen.length === names.length && modelMegabytes > 0 && (pictures ?? 100) >= 100;
  if (values.help || !valid) return undefined;
  const log = (text: string) => process.stderr.write(`  ${text}\n`);
  return {
    chosen,
    redraw: values.redraw,
    modelServer: values['model-server'],
    context: {
      quick,
      seconds: quick ? WINDOW.quick : WINDOW.full,
      modelMegabytes,
      ...(pictures !== undefined && { pictures }),
      log,
    },
  };
}

async function main(): Promise<void> {
  const wanted = readArguments();
  if (!wanted) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  if (wanted.redraw) {
    redrawCharts(BENCHES);
    writeReport(BENCHES);
    return;
  }
  if (wanted.modelServer === undefined) return measure(wanted, undefined);
  const server = await prepareServer({ binary: wanted.modelServer });
  try {
    process.env.PATH = `${server.bin}${delimiter}${process.env.PATH}`;
    await measure(wanted, server.version.split('\n')[0]);
  } finally {
    await server.remove();
  }
}

/** @param modelServer what a model server that was asked for prints as its version */
async function measure(
  { chosen, context }: Arguments,
  modelServer: string | undefined,
): Promise<void> {
  const failures: string[] = [];
  const loadBefore = loadavg()[0] ?? 0;
  await buildPrograms();
  for (const bench of chosen) {
    process.stderr.write(`${bench.name}: ${bench.question}\n`);
    const started = performance.now();
    const ticks = processorTicks();
    const spent = () => ({
      seconds: (performance.now() - started) / 1_000,
      stolen: stolenSince(ticks),
    });
    try {
      const findings = await bench.run(context);
      writeResult(bench, findings, {
        quick: context.quick,
        loadBefore,
        ...(modelServer !== undefined && { modelServer }),
        ...spent(),
      });
      for (const target of findings.targets ?? []) {
        const { what, bound, measured, unit } = target;
        context.log(
          `${isMet(target) ? 'met   ' : 'missed'} ${what}: ${measured.toPrecision(3)} ${unit}, ${bound} ${target.target}`,
        );
      }
    } catch (error) {
      failures.push(bench.name);
      process.stderr.write(`${bench.name} failed: ${(error as Error).stack}\n`);
    }
    const { seconds, stolen } = spent();
    process.stderr.write(
      `  ${seconds.toFixed(0)} s, ${(100 * stolen).toFixed(0)}% stolen by the host\n`,
    );
  }
  writeReport(BENCHES);
  if (failures.length > 0) {
    process.stderr.write(`failed: ${failures.join(', ')}\n`);
    process.exitCode = 1;
  }
}

// Whatever was started ends with this process, whose 'exit' event a signal alone would skip.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
void main();
