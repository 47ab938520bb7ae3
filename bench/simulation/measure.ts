/**
 * `npm run simulate -- --measure`: measures on this machine what the model of the batch simulation needs of the
 * serving runtime, over the tiles of the example, and writes it to `measured.json`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import jpegTurbo from '@julusian/jpeg-turbo';
import { encodeLengthPrefixed, encodeTfRecord, readTfRecords } from '@sagemaker-tfs/tensors';
import { runtimeClient } from 'sagemaker-tfs/development/batch';
import { prepareModelRoot, startRuntime } from 'sagemaker-tfs/development/serving';
import { cpuSeconds } from '../../tools/process-stats.ts';
import type { Measured } from './measured.ts';

const TILES = join(import.meta.dirname, '../../examples/tiles');
/** Tiles in a small and in a large request: the difference is the cost of a tile, the rest that of a request. */
const SIZES = [1, 48] as const;
const REQUESTS = 150;
const ROUNDS = 20;

/** Measures; what the model takes on its instance is measured there. */
export async function measure(): Promise<Measured> {
  const names = await readdir(join(TILES, 'samples'));
  const tiles = await Promise.all(names.map((name) => readFile(join(TILES, 'samples', name))));
  const [small, large] = await runtimeCpu(tiles);
  const perImage = (large - small) / (SIZES[1] - SIZES[0]);
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, Node ${process.version}`,
    imageBytes: Math.round(tiles.reduce((sum, tile) => sum + tile.byteLength, 0) / tiles.length),
    decodeMs: perRound(tiles, (tile) =>
      jpegTurbo.decompressSync(tile, { format: jpegTurbo.FORMAT_RGB }),
    ),
    requestCpuMs: Math.max(0, small - perImage),
    imageCpuMs: perImage,
    crcMs: perRound(tiles, (tile) => {
      for (const _ of readTfRecords(Buffer.concat(encodeTfRecord(tile))));
    }),
  };
}

/** Milliseconds of one call, the first rounds left out. */
function perRound<T>(items: readonly T[], work: (item: T) => unknown): number {
  for (const item of items) work(item);
  const from = performance.now();
  for (let round = 0; round < ROUNDS; round++) for (const item of items) work(item);
  return (performance.now() - from) / ROUNDS / items.length;
}

/** CPU milliseconds that the runtime itself, without the model server, takes for a request of each size. */
async function runtimeCpu(tiles: readonly Buffer[]): Promise<[number, number]> {
  const model = await prepareModelRoot(join(TILES, 'model'));
  try {
    const runtime = await startRuntime({
      modelDirectory: model.directory,
      environment: { SAGEMAKER_BATCH: 'true', SAGEMAKER_TFS_LOG_LEVEL: 'warn' },
      log: 'inherit',
    });
    const client = runtimeClient({
      url: runtime.url,
      connections: 4,
      headers: { 'content-type': 'application/octet-stream' },
      maxRetries: 0,
      timeoutSeconds: 60,
    });
    const cpuOf = async (count: number) => {
      const records = Array.from({ length: count }, (_, i) => tiles[i % tiles.length] as Buffer);
      const body = Buffer.concat(records.flatMap(encodeLengthPrefixed));
      const requests = Math.ceil(REQUESTS / Math.sqrt(count));
      await send(client, body, 20);
      const from = cpuSeconds([runtime.pid]);
      await send(client, body, requests);
      return ((cpuSeconds([runtime.pid]) - from) * 1_000) / requests;
    };
    try {
      return [await cpuOf(SIZES[0]), await cpuOf(SIZES[1])];
    } finally {
      await client.destroy();
      await runtime.stop();
    }
  } finally {
    await model.cleanUp();
  }
}

async function send(client: ReturnType<typeof runtimeClient>, body: Uint8Array, requests: number) {
  for (let i = 0; i < requests; i++) {
    const failure = await client.send(body, async (answer) => {
      for await (const _ of answer);
    });
    if (failure) throw new Error(`the runtime answers ${failure.status}: ${failure.message}`);
  }
}
