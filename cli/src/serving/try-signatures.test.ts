import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layOut } from '@sagemaker-tfs/model-packaging';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { startRuntime } from './runtime-process.ts';
import { trySignatures } from './try-signatures.ts';

test('every signature that takes values and writes none is asked once; what fails, and what is not tried, is said', async () => {
  const asked: unknown[] = [];
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const attributes = String(request.headers['x-amzn-sagemaker-custom-attributes']);
    asked.push([request.headers['content-type'], attributes]);
    const signature = /tfs-signature=(.*)/.exec(attributes)?.[1] as string;
    if (signature === 'linear') return request.socket.destroy();
    const [status, code, error] = ANSWERS[signature] ?? [200, '', ''];
    response.statusCode = status;
    response.end(JSON.stringify({ code, error }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  try {
    const exports = join(__dirname, '..', '..', '..', 'test', 'fixtures', 'tf1-exports');
    const counter = { directory: join(exports, 'counter'), url, signal, nameOf: () => 'the model' };
    expect(await trySignatures(counter)).toEqual([
      {
        what: 'Did not try signature get_counter of the model: it takes no inputs',
        answers: true,
      },
      ...['incr_counter_by', 'reset_counter'].map((key) => ({
        what: `Did not try signature ${key} of the model: it writes variables of the model`,
        answers: true,
      })),
    ]);
    expect(asked).toEqual([]);
    const directory = fixtureModel('multi_signature').basePath;
    const tried = (key: string, says: unknown, answers: boolean) => ({
      what: `Tried signature ${key} of multi_signature with a made-up request: ${says}`,
      answers,
    });
    expect(await trySignatures({ directory, url, signal })).toEqual(
      expect.arrayContaining([
        tried('label', 'HTTP 412, Could not find variable counter', false),
        tried('linear', 'TypeError: fetch failed', false),
        tried('serving_default', 'it answers', true),
        tried(
          'statistics',
          'refused before the model, as real requests may not be. HTTP 400, no picture',
          true,
        ),
      ]),
    );
    expect(asked).toContainEqual([
      'application/x-npz',
      'tfs-model-name=multi_signature,tfs-signature=label',
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

const ANSWERS: Readonly<Record<string, readonly [number, string, string]>> = {
  label: [412, 'MODEL_FAILED', 'Could not find variable counter'],
  statistics: [400, 'BAD_IMAGE', 'no picture'],
};

test('a Keras 3 model that tf.saved_model.save wrote loads, and is found not to answer', async () => {
  const work = mkdtempSync(join(tmpdir(), 'try-signatures-test-'));
  const served = join(work, 'served');
  const sound = ['keras_functional', 'tiles', 'tf1_classifier', 'strings'];
  for (const name of ['broken_variables', ...sound]) {
    cpSync(fixtureModel(name).basePath, join(served, name), { recursive: true });
  }
  const runtime = await startRuntime({ modelDirectory: served, log: join(work, 'runtime.log') });
  try {
    const ping = await fetch(`${runtime.url}/ping`);
    expect(ping.status).toBe(200);
    const { signal } = new AbortController();
    const tries = await trySignatures({ directory: served, url: runtime.url, signal });
    const about = (name: string) => tries.filter(({ what }) => what.includes(` of ${name} with`));
    expect(about('broken_variables')).toEqual([
      {
        what: expect.stringMatching(/: HTTP \d{3}, .*Could not find variable/),
        answers: false,
      },
    ]);
    // Encoded pictures, tf.Examples and text among them.
    for (const name of sound) {
      expect(about(name)).not.toEqual([]);
      for (const { what } of about(name)) expect(what).toMatch(/: it answers$/);
    }
  } finally {
    await runtime.stop();
    rmSync(work, { recursive: true, force: true });
  }
}, 120_000);

test('a handler that declares its requests is asked with one of these, and with nothing else', async () => {
  const work = mkdtempSync(join(tmpdir(), 'try-signatures-declared-'));
  const handler = join(__dirname, '../../../docs/examples/handlers/declared-bodies.ts');
  const source = fixtureModel('half_plus_two').basePath;
  const { directory } = await layOut({ source, handler }, join(work, 'model'));
  const runtime = await startRuntime({ modelDirectory: directory, log: join(work, 'runtime.log') });
  try {
    const { signal } = new AbortController();
    const tries = await trySignatures({ directory, url: runtime.url, signal });
    const tried = tries.filter(({ what }) => what.startsWith('Tried'));
    expect(tried).toEqual([
      {
        what: expect.stringMatching(/: it answers$/),
        answers: true,
      },
    ]);
    const metrics = await (await fetch(`${runtime.url}/metrics`)).text();
    expect(metrics).not.toMatch(/^sagemaker_tfs_errors_total.* [1-9]/m);
  } finally {
    await runtime.stop();
    rmSync(work, { recursive: true, force: true });
  }
}, 120_000);
