import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { startRuntime } from './runtime-process.ts';
import { trySignatures } from './try-signatures.ts';

test('every signature that takes values and writes none is asked once, and what fails is said', async () => {
  const asked: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text) as Record<string, unknown>;
    asked.push({ ...body, attributes: request.headers['x-amzn-sagemaker-custom-attributes'] });
    response.statusCode = body.signature_name === 'label' ? 500 : 200;
    response.end(JSON.stringify({ error: 'Could not find variable counter' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const never = new AbortController().signal;
  try {
    const exports = join(__dirname, '..', '..', '..', 'test', 'fixtures', 'tf1-exports');
    expect(await trySignatures(join(exports, 'counter'), url, never)).toEqual(
      ['incr_counter_by', 'reset_counter'].map((key) => ({
        what: `Signature ${key} of counter was not tried: it writes variables of the model`,
        answers: true,
      })),
    );
    expect(asked).toEqual([]);
    expect(
      await trySignatures(fixtureModel('multi_signature').basePath, url, never),
    ).toContainEqual({
      what: 'Tried signature label of multi_signature with a made-up input: HTTP 500, Could not find variable counter',
      answers: false,
    });
    expect(asked).toContainEqual({
      signature_name: 'label',
      inputs: { name: ['0'], number: [0] },
      attributes: 'tfs-model-name=multi_signature',
    });
    const lines = await trySignatures(fixtureModel('half_plus_two').basePath, url, never);
    expect(lines).toEqual([
      {
        what: 'Tried signature serving_default of half_plus_two with a made-up input: it answers',
        answers: true,
      },
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a Keras 3 model that tf.saved_model.save wrote loads, and is found not to answer', async () => {
  const work = mkdtempSync(join(tmpdir(), 'try-signatures-test-'));
  const served = join(work, 'served');
  for (const name of ['broken_variables', 'keras_functional']) {
    cpSync(fixtureModel(name).basePath, join(served, name), { recursive: true });
  }
  const runtime = await startRuntime({ modelDirectory: served, log: join(work, 'runtime.log') });
  try {
    const ping = await fetch(`${runtime.url}/ping`);
    expect(ping.status).toBe(200);
    const tries = await trySignatures(served, runtime.url, new AbortController().signal);
    const about = (name: string) => tries.filter(({ what }) => what.includes(` of ${name} with`));
    expect(about('broken_variables')).toEqual([
      {
        what: expect.stringMatching(/: HTTP \d{3}, .*Could not find variable/),
        answers: false,
      },
    ]);
    expect(about('keras_functional').filter(({ answers }) => !answers)).toEqual([]);
    expect(about('keras_functional')).not.toEqual([]);
  } finally {
    await runtime.stop();
    rmSync(work, { recursive: true, force: true });
  }
}, 120_000);
