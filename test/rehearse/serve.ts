/** The real runtime over a deployed archive: in the deployed image, or on this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureLibrary } from '@sagemaker-tfs/libtensorflow';
import { layOut } from '@sagemaker-tfs/model-packaging';
import { freePortRange } from 'sagemaker-tfs/development/serving';
import { buildah, runIn } from '../image/buildah.ts';
import { freePort } from './free-port.ts';
import type { Invocation, ModelReply } from './model-stand-in.ts';

const START_MS = 120_000;
const STOP_MS = 15_000;
/** Of the runtime: problems and spans in its log, nothing else. */
const VARIABLES = { SAGEMAKER_TFS_LOG_LEVEL: 'warn', SAGEMAKER_TFS_TRACES: 'log' };
const ATTRIBUTES = 'X-Amzn-SageMaker-Custom-Attributes';

/** A running endpoint of one instance. */
export interface Serving {
  /** Where SageMaker reaches the container. */
  readonly url: string;
  /** Lines of its log so far, those in JSON. */
  log(): readonly object[];
  /** What SageMaker does with a request: POST /invocations. */
  invoke(invocation: Invocation): Promise<ModelReply>;
  stop(): Promise<void>;
}

/** Serves an archive with `sagemaker-tfs serve`. */
export async function serveArchive(archive: string): Promise<Serving> {
  const port = await freePort();
  const args = ['cli/bin/sagemaker-tfs.js', 'serve', archive, '--port', String(port)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...VARIABLES },
  });
  const ended = once(child, 'exit');
  // The command's own lines, and the runtime's.
  const log = logOf(child.stdout, child.stderr);
  const serving = await untilHealthy(port, ended, log, async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await untilTried(serving);
  return serving;
}

/** Waits until `serve` has asked each signature once, which it does by itself: requests are counted later on. */
async function untilTried({ log, stop }: Serving): Promise<void> {
  const isTried = (line: object) =>
    /^(Tried|Did not try) /.test(`${(line as { msg?: unknown }).msg}`);
  for (const deadline = Date.now() + START_MS; !log().some(isTried); await sleep(100)) {
    if (Date.now() < deadline) continue;
    await stop();
    throw new Error('serve did not say what its signatures answer');
  }
}

/**
 * Serves an archive as SageMaker does: unpacked into `/opt/ml/model` of a container of `image`, pulled from
 * a registry without TLS. The container's TensorFlow comes from this machine, because the stand-in base has
 * none of its own.
 */
export async function serveInImage(archive: string, image: string): Promise<Serving> {
  const work = await mkdtemp(join(tmpdir(), 'sagemaker-tfs-rehearse-'));
  const model = join(work, 'model');
  await mkdir(model);
  await layOut(archive, model);
  const library = await ensureLibrary();
  const port = await freePort();
  // Without network namespaces the container's ports are this machine's.
  const modelServerPort = await freePortRange(2);
  const from = ['from', '--quiet', '--pull-always', '--tls-verify=false', `docker://${image}`];
  const container = String((await buildah(from)).stdout).trim();
  const inside = runIn(container, {
    volumes: { [model]: '/opt/ml/model', [library.directory]: '/opt/libtensorflow' },
    variables: {
      SAGEMAKER_BIND_TO_PORT: String(port),
      SAGEMAKER_SAFE_PORT_RANGE: `${modelServerPort}-${modelServerPort + 1}`,
      ...VARIABLES,
      LIBTENSORFLOW_PATH: '/opt/libtensorflow',
    },
  });
  const server = inside([...(await entrypointOf(container)), 'serve']);
  const ended = server.catch(() => undefined);
  return untilHealthy(port, ended, logOf(server.stdout as Readable), async () => {
    server.kill('SIGTERM');
    await Promise.race([ended, sleep(STOP_MS)]);
    server.kill('SIGKILL');
    await buildah(['rm', container]);
    await rm(work, { recursive: true, force: true });
  });
}

function logOf(...outputs: readonly Readable[]): () => readonly object[] {
  const lines: object[] = [];
  for (const output of outputs) {
    createInterface(output).on('line', (line) => {
      if (line.startsWith('{')) lines.push(JSON.parse(line) as object);
      else console.log(line);
    });
  }
  return () => lines;
}

async function entrypointOf(container: string): Promise<string[]> {
  const { stdout } = await buildah(['inspect', container]);
  const { OCIv1 } = JSON.parse(String(stdout)) as { OCIv1: { config: { Entrypoint: string[] } } };
  return OCIv1.config.Entrypoint;
}

/** Waits until /ping answers; `stop`s whatever ends or hangs before that. */
async function untilHealthy(
  port: number,
  ended: Promise<unknown>,
  log: () => readonly object[],
  stop: () => Promise<void>,
): Promise<Serving> {
  const url = `http://127.0.0.1:${port}`;
  let running = true;
  ended.then(() => {
    running = false;
  });
  const deadline = Date.now() + START_MS;
  while (running && Date.now() < deadline) {
    const ping = await fetch(`${url}/ping`).catch(() => undefined);
    if (ping?.ok) {
      return { url, log, invoke: (invocation) => post(`${url}/invocations`, invocation), stop };
    }
    await sleep(200);
  }
  await stop();
  throw new Error(
    running
      ? `the runtime did not become healthy within ${START_MS / 1000} s`
      : 'the runtime ended before it was healthy',
  );
}

async function post(url: string, invocation: Invocation): Promise<ModelReply> {
  const { contentType, accept, customAttributes, body } = invocation;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...(contentType && { 'content-type': contentType }),
      ...(accept && { accept }),
      [ATTRIBUTES]: customAttributes,
    },
    body: new Uint8Array(body),
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    customAttributes: response.headers.get(ATTRIBUTES) ?? '',
    body: new Uint8Array(await response.arrayBuffer()),
  };
}
