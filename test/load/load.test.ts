/**
 * The load of batch transform in small: 64 requests in flight over one runtime, in front of a model server that refuses
 * what is beyond 31 calls. `npm run bench -- --only in-flight` has the figures.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createModelDir,
  MODEL_SERVER_BIN,
  type RuntimeProcess,
  startRuntimeProcess,
  until,
} from '@sagemaker-tfs/container/testing';
import { fixtureModel } from '../fixtures/index.ts';

const CLIENTS = 64;
const REQUESTS = 192;
/** Some milliseconds of computing. */
const BODY = JSON.stringify({ inputs: 1000 });
/** With what is kept for probes it makes `--grpc_max_threads=32`. */
const IN_FLIGHT = '16';

let runtime: RuntimeProcess;
let cleanup: () => Promise<void>;
afterEach(async () => {
  await runtime.end('SIGKILL');
  await cleanup();
});

/** Sends all requests, 64 at a time, and counts the answers by status. */
async function answers(path: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let left = REQUESTS;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const response = await fetch(`${runtime.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: BODY,
      });
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return counts;
}

/** What `/ping` answers until `work` is done. */
async function pings<T>(work: Promise<T>): Promise<{ result: T; statuses: Set<number> }> {
  const statuses = new Set<number>();
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      statuses.add((await fetch(`${runtime.url}/ping`)).status);
      await delay(20);
    }
  })();
  const result = await work.finally(() => {
    isDone = true;
  });
  await asking;
  return { result, statuses };
}

test('64 in flight on a quota of 31: no request is refused, and the container stays healthy', async () => {
  const { directory, remove } = await createModelDir({
    copies: { busy: fixtureModel('busy').basePath },
  });
  cleanup = remove;
  runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: directory,
    SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: IN_FLIGHT,
  });
  await runtime.ready();
  const { result, statuses } = await pings(answers('/invocations'));
  expect(result).toEqual({ 200: REQUESTS });
  expect([...statuses]).toEqual([200]);
});

test('and while other models are loaded and unloaded', async () => {
  const { directory, remove } = await createModelDir({
    copies: {
      'busy/model': fixtureModel('busy').basePath,
      'half/model': fixtureModel('half_plus_two').basePath,
    },
  });
  cleanup = remove;
  runtime = await startRuntimeProcess({
    SAGEMAKER_MULTI_MODEL: 'true',
    SAGEMAKER_TFS_MULTI_MODEL_DIR: directory,
    SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: IN_FLIGHT,
    LOCAL_MODEL_SERVER_POLL_MS: '50',
  });
  await runtime.ready();
  const change = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${runtime.url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const load = (name: string, url: string) =>
    change('POST', '/models', { model_name: name, url: join(directory, url) });
  expect(await load('busy', 'busy/model')).toBe(200);
  const changes: number[] = [];
  const changing = async () => {
    for (let round = 0; round < 2; round += 1) {
      changes.push(await load('half', 'half/model'), await change('DELETE', '/models/half'));
    }
  };
  const both = Promise.all([answers('/models/busy/invoke'), changing()]);
  const { result, statuses } = await pings(both);
  expect(result[0]).toEqual({ 200: REQUESTS });
  expect(changes).toEqual([200, 200, 200, 200]);
  expect([...statuses]).toEqual([200]);
});

/** A directory for PATH whose model server has this number of threads, whatever the runtime asks for: the last flag counts. */
async function modelServerWith(directory: string, threads: number): Promise<string> {
  const program = join(directory, 'tensorflow_model_server');
  const { PATH } = process.env;
  const exec = `PATH='${MODEL_SERVER_BIN}:${PATH}' exec tensorflow_model_server "$@" --grpc_max_threads=${threads}`;
  await mkdir(directory);
  await writeFile(program, `#!/bin/sh\n${exec}\n`, { mode: 0o755 });
  return `${directory}:${PATH}`;
}

test('a model server with fewer threads than calls refuses some, which callers do not notice but an operator sees', async () => {
  const { directory, remove } = await createModelDir({
    copies: { busy: fixtureModel('busy').basePath },
  });
  const bin = `${directory}-bin`;
  cleanup = async () => {
    await remove();
    await rm(bin, { recursive: true });
  };
  runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: directory,
    SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: String(CLIENTS),
    PATH: await modelServerWith(bin, 8),
  });
  await runtime.ready();
  const metrics = async () => (await fetch(`${runtime.url}/metrics`)).text();
  // On a busy machine a process may be late for the page, which is then without it.
  const none = /^sagemaker_tfs_model_server_refusals_total 0$/m;
  await until(async () => none.test(await metrics()));
  const { result, statuses } = await pings(answers('/invocations'));
  expect(result).toEqual({ 200: REQUESTS });
  expect([...statuses]).toEqual([200]);
  const some = /^sagemaker_tfs_model_server_refusals_total [1-9]\d*$/m;
  await until(async () => some.test(await metrics()));
  const told = () => runtime.log().filter(({ msg }) => /had no thread for a call/.test(`${msg}`));
  await until(() => told().length > 0);
  expect(told()[0]).toMatchObject({ level: 'warn', instance: 0, most: expect.any(Number) });
});
