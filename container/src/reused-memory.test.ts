/** Memory of requests and replies is used again: no answer may show another's. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  decodeNpy,
  encodeLengthPrefixed,
  encodeNpy,
  numericTensor,
  typedArray,
} from '@sagemaker-tfs/tensors';
import sharp from 'sharp';
import { fixtureModel } from '../../test/fixtures/index.ts';
import type { RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const start = useRuntimes(afterEach);

function serve(model: string, backend: string): Promise<RuntimeProcess> {
  const { name, basePath } = fixtureModel(model);
  return start({ copies: { [name]: basePath } }, { SAGEMAKER_TFS_BACKEND: backend });
}

/** Posts a body and gives the response before its body is read. */
async function post(
  runtime: RuntimeProcess,
  body: Uint8Array,
  headers: Record<string, string>,
): Promise<IncomingMessage> {
  const outgoing = request(`${runtime.url}/invocations`, { method: 'POST', headers, agent: false });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error((await read(response)).toString());
  return response;
}

async function read(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const NPY = { 'content-type': 'application/x-npy', accept: 'application/x-npy' };

/** What half_plus_two, whose newest version adds three, is asked: one number, `count` times. */
function numbers(value: number, count: number): Buffer {
  const values = new Float32Array(count).fill(value);
  const tensor = numericTensor('float32', [count, 1], new Uint8Array(values.buffer));
  return Buffer.concat(encodeNpy(tensor));
}

/** The different numbers of an answer. */
function distinct(npy: Buffer): number[] {
  return [...new Set(typedArray(decodeNpy(npy) as never) as Float32Array)];
}

describe.each(['grpc', 'in-process'])('over %s', (backend) => {
  test('large answers at a time, some read late', async () => {
    const runtime = await serve('half_plus_two', backend);
    const slow = await post(runtime, numbers(1000, 2_000_000), NPY);
    for (let round = 0; round < 5; round++) {
      const values = Array.from({ length: 12 }, (_, i) => round * 100 + i * 2);
      const answers = await Promise.all(
        values.map(async (value) => {
          const response = await post(runtime, numbers(value, 50_000), NPY);
          await delay(value % 7);
          return distinct(await read(response));
        }),
      );
      expect(answers).toEqual(values.map((value) => [value / 2 + 3]));
    }
    expect(distinct(await read(slow))).toEqual([503]);
  });

  test('pictures at a time', async () => {
    const runtime = await serve('image_uint8', backend);
    const colors = Array.from({ length: 12 }, (_, i) => ({ r: i * 20, g: 255 - i, b: i }));
    const asked = colors.flatMap((color) => [color, color, color]);
    const answers = await Promise.all(
      asked.map(async (background) => {
        const size = { width: 32, height: 32, channels: 3 as const };
        const png = await sharp({ create: { ...size, background } })
          .png()
          .toBuffer();
        const body = Buffer.concat(Array(40).fill(encodeLengthPrefixed(png)).flat());
        const headers = { 'content-type': 'application/octet-stream', accept: 'application/json' };
        const text = (await read(await post(runtime, body, headers))).toString();
        const { predictions } = JSON.parse(text) as { predictions: { mean_color: number[] }[] };
        return [...new Set(predictions.map(({ mean_color }) => mean_color.join()))];
      }),
    );
    expect(answers).toEqual(asked.map(({ r, g, b }) => [`${r},${g},${b}`]));
  });
});
