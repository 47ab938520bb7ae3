/** A handler with one half only: the built-in codecs do the other as without a handler. */
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { invoke } from '../testing/invoke.ts';
import type { RuntimeProcess } from '../testing/runtime-process.ts';
import { useRuntimes } from '../testing/use-runtimes.ts';

const copies = {
  half_plus_two: fixtureModel('half_plus_two').basePath,
  images: fixtureModel('image_uint8').basePath,
};

const OUTPUT_ONLY = `
import { toNumbers } from 'sagemaker-tfs/handler';
export const outputHandler = (result, { signature, method }) => ({
  signature: signature.key,
  method,
  outputs: Object.fromEntries(Object.entries(result).map(([name, tensor]) => [name, {
    shape: tensor.shape,
    values: tensor.dtype === 'string' ? tensor.values.map(String) : [...toNumbers(tensor)],
  }])),
});
`;
/** With a misspelled one. */
const INPUT_ONLY = `
export const outputHandlr = () => 1;
const wrong = {
  nothing: () => undefined,
  function: () => () => 1,
  Blob: () => new Blob(['1']),
  memory: () => {
    const bytes = new Uint8Array(8);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    return bytes;
  },
};
export const inputHandler = (data) => {
  const text = Buffer.from(data).toString();
  return text in wrong ? wrong[text]() : text;
};
`;

/** 1 picture of 5x7, which only `any_size` takes. */
const picture = Array.from({ length: 5 }, (_, y) =>
  Array.from({ length: 7 }, (_, x) => [y, x, y + x]),
);
const ANY_SIZE = JSON.stringify({ signature_name: 'any_size', instances: [picture] });

async function ask(
  runtime: RuntimeProcess,
  attributes: string,
  body: string,
): Promise<{ status: number; body: unknown }> {
  const response = await invoke(runtime, { attributes, body });
  return { status: response.status, body: await response.json() };
}

describe.each(['grpc', 'rest', 'in-process'])('over %s', (SAGEMAKER_TFS_BACKEND) => {
  const serve = useRuntimes();
  const variables = { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two', SAGEMAKER_TFS_BACKEND };
  const start = (files: Record<string, string>) => serve({ copies, files }, variables);
  let plain: RuntimeProcess;
  let output: RuntimeProcess;
  let input: RuntimeProcess;
  beforeAll(async () => {
    [plain, output, input] = await Promise.all([
      start({}),
      start({ 'code/inference.mjs': OUTPUT_ONLY }),
      start({ 'code/inference.mjs': INPUT_ONLY }),
    ]);
  });

  test('signature_name is that of the body, also in the context', async () => {
    const answer = await ask(output, 'tfs-model-name=images', ANY_SIZE);
    expect(answer).toMatchObject({ status: 200, body: { signature: 'any_size' } });
  });

  test('a misspelled export is ignored, and the log says so', () => {
    const warnings = input.log().filter(({ level }) => level === 'warn');
    expect(warnings).toContainEqual(
      expect.objectContaining({
        msg: expect.stringContaining("exports 'outputHandlr'. Did you mean 'outputHandler'?"),
      }),
    );
  });

  test.each(['nothing', 'function', 'Blob', 'memory'])('no input: %s', async (what) => {
    expect(await ask(input, '', what)).toMatchObject({
      status: 500,
      body: { code: 'HANDLER_FAILED', error: expect.stringContaining(what) },
    });
  });

  test('inputHandler alone: the answer is the one without a handler', async () => {
    const wanted = await ask(plain, 'tfs-model-name=images', ANY_SIZE);
    expect(wanted.status).toBe(200);
    expect(await ask(input, 'tfs-model-name=images', ANY_SIZE)).toEqual(wanted);
  });

  test('classify and regress', async () => {
    const examples = '"examples": [{ "x": 1.0 }, { "x": 4.0 }]';
    const classify = `{"signature_name": "classify_x_to_y", ${examples}}`;
    const classified = 'tfs-method=classify,tfs-model-version=1';
    expect((await ask(plain, classified, classify)).body).toEqual({
      results: [[['', 2.5]], [['', 4]]],
    });
    expect(await ask(output, classified, classify)).toEqual({
      status: 200,
      body: {
        signature: 'classify_x_to_y',
        method: 'classify',
        outputs: {
          classes: { shape: [2, 1], values: ['', ''] },
          scores: { shape: [2, 1], values: [2.5, 4] },
        },
      },
    });
    const regress = `{"signature_name": "regress_x_to_y", ${examples}}`;
    const regressed = 'tfs-method=regress,tfs-model-version=1';
    expect((await ask(plain, regressed, regress)).body).toEqual({ results: [2.5, 4] });
    expect(await ask(output, regressed, regress)).toEqual({
      status: 200,
      body: {
        signature: 'regress_x_to_y',
        method: 'regress',
        outputs: { outputs: { shape: [2], values: [2.5, 4] } },
      },
    });
  });

  test('a signature that is not there is refused as without a handler', async () => {
    const body = JSON.stringify({ signature_name: 'nobody', instances: [1.0] });
    const wanted = await ask(plain, '', body);
    expect(wanted.status).toBe(400);
    const { status, body: got } = await ask(output, '', body);
    expect(status).toBe(400);
    expect((got as { code: string }).code).toBe((wanted.body as { code: string }).code);
  });
});
