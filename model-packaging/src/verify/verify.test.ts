import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WARMUP_PATH } from '@sagemaker-tfs/libtensorflow/warmup-file';
import { encodeNpy, encodeNpz, numericTensor } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { layOut } from '../archive/lay-out.ts';
import { type PackageOptions, packageModel } from '../package-model.ts';
import { renderVerify } from '../render/verify-text.ts';
import type { SampleRequest } from '../samples/sample-file.ts';
import { useScratch, withCode } from '../testing/scratch.ts';
import type { VerifyReport } from './report.ts';
import { type RunThroughRuntime, type VerifyOptions, verifyArchive } from './verify.ts';

const scratch = useScratch();

async function pack(source: string, options: Partial<PackageOptions> = {}): Promise<string> {
  const { path } = await packageModel({ source, out: scratch.path('model.tar.gz'), ...options });
  return path;
}

/** Takes pictures, which the name of its input does not tell: it refuses the text that is made up. */
function refusing(): string {
  const directory = scratch.path('refusing');
  cpSync(fixtureModel('tiles').directory, join(directory, '1'), { recursive: true });
  const file = join(directory, '1/saved_model.pb');
  const graph = readFileSync(file, 'latin1').replaceAll('image_bytes', 'thing_bytes');
  writeFileSync(file, graph, 'latin1');
  return directory;
}

const verify = async (name: string, options?: VerifyOptions) =>
  verifyArchive(await pack(fixtureModel(name).basePath), options);

describe('every signature is run by TensorFlow', () => {
  test('on synthetic inputs, telling latency and output shapes', async () => {
    const { versions } = await verify('multi_signature');
    const [version] = versions;
    expect(version?.signatures.map(({ signature }) => signature)).toEqual([
      'label',
      'linear',
      'serving_default',
      'statistics',
    ]);
    expect(version?.signatures[1]?.outputs).toEqual({ y: { dtype: 'float32', shape: [1, 2] } });
    for (const { firstMs, medianMs, note } of version?.signatures ?? []) {
      expect(firstMs).toBeGreaterThan(0);
      expect(medianMs).toBeGreaterThan(0);
      expect(note).toBe('');
    }
    expect(version?.loadMs).toBeGreaterThan(0);
  });

  test('of every version and dtype, strings and encoded pictures', async () => {
    expect((await verify('half_plus_two')).versions.map(({ version }) => version)).toEqual([
      '1',
      '2',
    ]);
    for (const name of [
      'dtypes',
      'strings',
      'tiles',
      'keras_functional',
      'shapes',
      'tf1_classifier',
    ]) {
      const { versions } = await verify(name);
      const notes = versions.flatMap(({ signatures }) => signatures.map(({ note }) => note));
      expect(notes.filter((note) => note !== '')).toEqual([]);
    }
  });

  test('those that no request can call are named, unless a handler may', async () => {
    const { basePath } = fixtureModel('multi_signature');
    const handler = scratch.write('own.ts', 'export const handler = (data) => data;');
    const postprocess = { outputs: ['sum'] };
    const notes = async (options: Partial<PackageOptions>) =>
      (await verifyArchive(await pack(basePath, options))).versions.flatMap(({ signatures }) =>
        signatures.filter(({ note }) => note).map(({ signature, note }) => `${signature}: ${note}`),
      );
    expect(await notes({ postprocess })).toEqual(
      ['label', 'linear', 'statistics'].map(
        (key) =>
          `${key}: \`postprocess.outputs\` names none of its outputs, so no request can call it`,
      ),
    );
    expect(await notes({ postprocess, handler })).toEqual([]);
  });

  test('on given samples of TensorFlow Serving’s JSON and of .npz', async () => {
    const json = scratch.write(
      'sample.json',
      JSON.stringify({
        signature_name: 'linear',
        inputs: {
          x: [
            [1, 2, 3],
            [4, 5, 6],
          ],
        },
      }),
    );
    const floats = numericTensor('float32', [3], new Float32Array([1, 2, 3]));
    const npz = scratch.write('sample.npz', Buffer.concat(encodeNpz({ a: floats, b: floats })));
    const { versions } = await verify('multi_signature', { samples: [json, npz] });
    const signatures = versions[0]?.signatures ?? [];
    const linear = signatures.find(({ signature }) => signature === 'linear');
    expect(linear).toMatchObject({ sample: json, outputs: { y: { shape: [2, 2] } } });
    const served = signatures.find(({ signature }) => signature === 'serving_default');
    expect(served).toMatchObject({ sample: npz, outputs: { sum: { shape: [3] } } });
  });

  test('with batching, a note for each signature whose requests are not joined', async () => {
    const { versions } = await verify('multi_signature', { batching: true });
    const notes = versions[0]?.signatures.map(({ signature, note }) => [signature, note]);
    expect(notes).toEqual([
      ['label', ''],
      ['linear', ''],
      ['serving_default', ''],
      [
        'statistics',
        expect.stringMatching(/^cannot be batched: output "count" is a scalar\. .*one by one/),
      ],
    ]);
  });

  test('on arrays of another dtype too, converted as the runtime does', async () => {
    const tensor = numericTensor('float64', [2, 1], new Uint8Array(16));
    const sample = scratch.write('sample.npy', Buffer.concat(encodeNpy(tensor)));
    const { versions } = await verify('half_plus_two', { samples: [sample] });
    expect(versions.at(-1)?.signatures.map((one) => one.sample)).toContain(sample);
  });

  test('what a sound model may refuse is a note', async () => {
    const { versions } = await verifyArchive(await pack(refusing()));
    const refused = versions[0]?.signatures[0];
    expect(refused?.note).toMatch(/refused made-up values.*Give a sample/);
    expect(renderVerify({ archive: '', versions, requests: [] })).toContain(refused?.note);
  });
});

describe('what would fail on SageMaker fails here, once and clearly', () => {
  test('variables that are not restored', async () => {
    const verifying = verify('broken_variables');
    await expect(verifying).rejects.toThrow(withCode('VERIFY_FAILED'));
    await expect(verifying).rejects.toThrow(/signature serving_default.*Could not find variable/);
  });

  test('a custom operation', async () => {
    const verifying = verify('custom_op');
    await expect(verifying).rejects.toThrow(/does not load.*ExampleCustomOp/s);
    await expect(verifying).rejects.toThrow(scratch.path('model.tar.gz'));
    const error = (await verifying.catch((thrown: unknown) => thrown)) as Error;
    // No cause tells it again with the temporary folder's name.
    expect(error.cause).toBeUndefined();
  });

  test.each([
    ['a wrong input name', { inputs: { pixels: [[1]] } }, /has no input 'pixels'. It has a, b/],
    ['ragged values', { inputs: { a: [[1], [2, 3]], b: [1] } }, /a\[1\]/],
    [
      'text for a number',
      { instances: [{ a: 'x', b: 1 }] },
      /instances\[0\]\.a: "x" is not a number/,
    ],
    ['a wrong signature', { signature_name: 'x', instances: [1] }, /no signature 'x', only/],
    ['an input left out', { inputs: { a: [1] } }, /b/],
  ])('a sample with %s', async (_, body, message) => {
    const sample = scratch.write('sample.json', JSON.stringify(body));
    const verifying = verify('multi_signature', { samples: [sample] });
    await expect(verifying).rejects.toThrow(withCode('BAD_SAMPLE'));
    await expect(verifying).rejects.toThrow(message);
    await expect(verifying).rejects.toThrow(sample);
  });

  // TensorFlow itself ends the process over some of these.
  test.each([
    ['of too few dimensions', [8, 8]],
    ['of other sizes', [1, 5, 4, 3]],
  ])('an array %s', async (_, shape) => {
    const size = shape.reduce((product, one) => product * one, 4);
    const tensor = numericTensor('float32', shape, new Uint8Array(size));
    const sample = scratch.write('sample.npy', Buffer.concat(encodeNpy(tensor)));
    const verifying = verify('image_nchw', { samples: [sample] });
    await expect(verifying).rejects.toThrow(withCode('BAD_SAMPLE'));
    await expect(verifying).rejects.toThrow(`got float32 [${shape.join(', ')}]`);
  });

  test('a warm-up file of another model', async () => {
    scratch.model('image_nchw', 'other/1');
    const warm = scratch.path('warm');
    await layOut({ source: scratch.model('half_plus_two', 'half/1'), warmup: true }, warm);
    scratch.write(`other/1/${WARMUP_PATH}`, readFileSync(join(warm, '1', WARMUP_PATH)));
    const verifying = pack(scratch.path('other')).then((archive) => verifyArchive(archive));
    await expect(verifying).rejects.toThrow(/warm-up request 1.*refused.*has no input 'x'/);
  });

  test('a warm-up that TensorFlow Serving would refuse the model for', async () => {
    const sample = scratch.write('warmup.json', JSON.stringify({ inputs: { x: [-1] } }));
    const source = fixtureModel('failing_assert').directory;
    const archive = await pack(source, { warmup: [sample] });
    await expect(verifyArchive(archive)).rejects.toThrow(/warm-up request 1.*refused by the model/);
  });
});

describe('a sample with what is sent with it', () => {
  const linear = JSON.stringify({
    signature_name: 'linear',
    inputs: { x: [[1, 2, 3]] },
  });

  /** A runtime that answers everything; what it was asked is added to `sent`. */
  const answering =
    (sent: SampleRequest[]) => async (_: unknown, requests: readonly SampleRequest[]) => {
      sent.push(...requests);
      return requests.map(() => ({
        status: 200,
        contentType: '',
        body: Buffer.of(),
        latencyMs: 1,
      }));
    };

  test.each([
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['text/csv', false],
    [undefined, false],
  ])('body.bin as %s is read as its declared type', async (contentType, isTensors) => {
    const file = scratch.write('body.bin', linear);
    const sent: SampleRequest[] = [];
    const { versions } = await verify('multi_signature', {
      samples: [{ file, ...(contentType && { contentType }), accept: 'application/x-npy' }],
      runThroughRuntime: answering(sent),
    });
    const tried = versions[0]?.signatures.filter(({ sample }) => sample === file);
    expect(tried?.map(({ signature }) => signature)).toEqual(isTensors ? ['linear'] : []);
    expect(sent).toMatchObject([
      { contentType: contentType ?? 'application/octet-stream', accept: 'application/x-npy' },
    ]);
  });

  test('a declared type wins over the ending, and what does not fit it is refused', async () => {
    const file = scratch.write('body.npy', linear);
    await verify('multi_signature', { samples: [{ file, contentType: 'application/json' }] });
    const verifying = verify('multi_signature', { samples: [file] });
    await expect(verifying).rejects.toThrow(withCode('BAD_SAMPLE'));
  });

  test('with custom attributes it is for the runtime alone', async () => {
    const file = scratch.write('body.json', '{"instances": "what only attributes explain"}');
    const sent: SampleRequest[] = [];
    const { versions } = await verify('multi_signature', {
      samples: [{ file, customAttributes: 'tfs-signature=linear' }],
      runThroughRuntime: answering(sent),
    });
    expect(versions[0]?.signatures.map(({ sample }) => sample)).not.toContain(file);
    expect(sent).toMatchObject([{ customAttributes: 'tfs-signature=linear' }]);
  });
});

test('a sample in a handler’s own form is for the handler alone', async () => {
  const handler = scratch.write('inference.ts', 'export const handler = (data) => data;');
  const archive = await pack(fixtureModel('strings').directory, { handler });
  const sample = scratch.write('sample.json', JSON.stringify({ inputs: { question: 'why' } }));
  const { versions } = await verifyArchive(archive, { samples: [sample] });
  expect(versions[0]?.signatures.map((run) => run.sample)).not.toContain(sample);
});

test('warm-up requests of every signature are written and pass', async () => {
  const archive = await pack(fixtureModel('dtypes').directory, { warmup: true });
  const { versions } = await verifyArchive(archive, { runs: 1 });
  expect(versions[0]?.signatures.length).toBeGreaterThan(10);
});

describe('through the runtime', () => {
  const answer =
    (status: number, body = '{}'): RunThroughRuntime =>
    async (_, requests) =>
      requests.map(() => ({
        status,
        contentType: 'application/json',
        body: Buffer.from(body),
        latencyMs: 1,
      }));

  test('a laid-out model is verified as its archive is, and left as it was', async () => {
    const archive = await pack(fixtureModel('strings').basePath);
    const { directory } = await layOut(archive, scratch.path('laid'));
    const files = readdirSync(directory, { recursive: true });
    const tried = ({ versions, requests }: VerifyReport) => [
      versions.map(({ signatures }) => signatures.map(({ outputs }) => outputs)),
      requests.map(({ status }) => status),
    ];
    const runThroughRuntime = answer(200);
    const laid = await verifyArchive(directory, { runThroughRuntime });
    expect(tried(laid)).toEqual(tried(await verifyArchive(archive, { runThroughRuntime })));
    expect(laid.requests).toHaveLength(1);
    expect(readdirSync(directory, { recursive: true })).toEqual(files);
  });

  test('the archive is laid out, and a picture is sent where the model takes pictures', async () => {
    const sent: SampleRequest[] = [];
    const runThroughRuntime: RunThroughRuntime = async (directory, requests, log) => {
      expect(readFileSync(join(directory, 'code/manifest.json'), 'utf8')).toContain('image_bytes');
      sent.push(...requests);
      return answer(200)(directory, requests, log);
    };
    const { requests } = await verify('tiles', { runThroughRuntime });
    expect(sent.map(({ contentType }) => contentType)).toEqual(['application/x-image']);
    expect(requests).toMatchObject([{ sample: 'synthetic', status: 200, note: '' }]);
  });

  test('a handler that reads JSON alone gets JSON, and the answer is shown', async () => {
    const handler = scratch.write('json.ts', 'export const handler = (data) => data;');
    const archive = await pack(fixtureModel('strings').directory, { handler });
    const report = await verifyArchive(archive, {
      runThroughRuntime: async (_, sent) =>
        sent.map(({ contentType, body }) => ({
          status:
            contentType === 'application/json' && 'inputs' in JSON.parse(String(body)) ? 200 : 500,
          contentType: 'application/json',
          body: Buffer.from(`{"long":"${'x'.repeat(300)}"}`),
          latencyMs: 1,
        })),
    });
    expect(report.requests).toMatchObject([{ contentType: 'application/json', status: 200 }]);
    expect(report.requests[0]?.preview).toHaveLength(200);
    const text = renderVerify(report);
    expect(text).toContain('answer to synthetic: {"long":"xxx');
    expect(text).toContain('1 of 1 requests were answered.');
    expect(text).not.toContain('--sample');
  });

  describe('a handler that declares its requests', () => {
    const declaring = (request: string) => {
      const code = `export const handler = (data) => data; export const openapi = { request: ${request} };`;
      return pack(fixtureModel('strings').directory, { handler: scratch.write('own.ts', code) });
    };
    const sentTo = async (archive: string, status: number) => {
      const bodies: string[] = [];
      const runThroughRuntime: RunThroughRuntime = async (_, sent) =>
        sent.map(({ body }) => {
          bodies.push(String(body));
          return { status, contentType: 'application/json', body: Buffer.from('{}'), latencyMs: 1 };
        });
      const report = await verifyArchive(archive, { runThroughRuntime }).catch(String);
      return { bodies, report };
    };

    test('gets its own example and nothing else; one that it refuses is an error', async () => {
      const archive = await declaring("{ type: 'array', examples: [['a', 2]] }");
      const { bodies, report } = await sentTo(archive, 200);
      expect(bodies).toEqual(['["a",2]']);
      expect(report).toMatchObject({ requests: [{ sample: 'declared', status: 200, note: '' }] });
      expect((await sentTo(archive, 422)).report).toMatch(
        /VERIFY_FAILED|answered the example that its openapi declares \(application\/json\) with status 422/,
      );
    });

    test('gets first what its schema describes', async () => {
      const schema =
        "{ type: 'object', required: ['x'], properties: { x: { type: 'integer', minimum: 3 } } }";
      const { bodies, report } = await sentTo(await declaring(schema), 200);
      expect(bodies[0]).toBe('{"x":3}');
      expect(report).toMatchObject({ requests: [{ sample: 'synthetic', status: 200 }] });
    });

    test.each(['true', '{}', "{ 'image/jpeg': {} }"])(
      'of %s gets what others get',
      async (request) => {
        const { bodies } = await sentTo(await declaring(request), 200);
        expect(bodies.some((body) => body.includes('"inputs"'))).toBe(true);
      },
    );
  });

  test.each([
    [3e6, /^$/],
    [5e6, /has 5\.0 MB, more than a serverless endpoint \(4 MB\) carries/],
    [29e6, /has 29\.0 MB, more than a real-time endpoint \(25 MB\) or a serverless one \(4 MB\)/],
  ])(
    'an answer of %d bytes: which endpoints cannot carry it, with the ways out',
    async (bytes, note) => {
      const archive = await pack(fixtureModel('strings').basePath);
      const { requests } = await verifyArchive(archive, {
        runThroughRuntime: answer(200, 'x'.repeat(bytes)),
      });
      expect(requests[0]?.note).toMatch(note);
      if (bytes < 4e6) return;
      for (const way of ['tfs-outputs', 'application/x-npz', 'batch transform', 'asynchronous']) {
        expect(requests[0]?.note).toContain(way);
      }
    },
  );

  test('a handler that fails at every made-up request is refused, with the flag that helps', async () => {
    const handler = scratch.write('own.ts', 'export const handler = (data) => data;');
    const archive = await pack(fixtureModel('strings').directory, { handler });
    const sample = scratch.write('sample.json', '{}');
    const runThroughRuntime = answer(500, '{"code":"HANDLER_FAILED"}');
    await expect(verifyArchive(archive, { runThroughRuntime })).rejects.toThrow(/--sample FILE/);
    const given = verifyArchive(archive, { runThroughRuntime, samples: [sample] });
    await expect(given).rejects.toThrow(/^(?!.*--sample)/);
  });

  test('what was not tried is said at the end, with the flag that helps', async () => {
    const text = renderVerify(
      await verifyArchive(await pack(refusing()), { runThroughRuntime: answer(400) }),
    );
    expect(text).toMatch(/Tried: \d+ of \d+ signatures ran, 0 of 1 requests were answered\./);
    expect(text).toMatch(/Not run: serving_default of refusing version 1/);
    expect(text).toMatch(/Give what clients send with --sample FILE\.$/);
  });

  test('references, as in the counter of TensorFlow Serving: each signature runs, none takes a request', async () => {
    const counter = join(__dirname, '../../../test/fixtures/tf1-exports/counter');
    const text = renderVerify(await verifyArchive(await pack(counter)));
    expect(text).toContain('Tried: 3 of 3 signatures ran, 0 of 0 requests were answered.');
    expect(text).toContain('Not tried: the runtime, as no request could be made up.');
  });

  test('a made-up request may be refused, a failure and a refused sample are errors', async () => {
    const refused = await verify('strings', { runThroughRuntime: answer(400, 'no') });
    expect(refused.requests[0]?.note).toMatch(/refused: no/);
    const failing = verify('strings', { runThroughRuntime: answer(500, 'TypeError: x') });
    await expect(failing).rejects.toThrow(withCode('VERIFY_FAILED'));
    await expect(failing).rejects.toThrow(/status 500: TypeError: x/);
    const sample = scratch.write('sample.csv', 'a,b');
    const refusedSample = verify('strings', {
      samples: [sample],
      runThroughRuntime: answer(415, 'no csv'),
    });
    await expect(refusedSample).rejects.toThrow(
      /sample\.csv \(text\/csv\) with status 415: no csv/,
    );
  });
});
