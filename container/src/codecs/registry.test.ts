import { postprocessSchema } from '@sagemaker-tfs/manifest';
import {
  encodeLengthPrefixed,
  encodeNpy,
  encodeNpz,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  stringTensor,
  tensorFromNested,
  toNested,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { gradient } from '../images/test-pictures.ts';
import {
  decodeRequest,
  encodeResponse,
  requestMediaTypes,
  responseMediaTypes,
} from './registry.ts';
import { bodyOf, decodeContext, encodeContext, signatureOf } from './test-signatures.ts';
import { encodeExample } from './tf-example-writer.ts';

const scores = tensorFromNested('float32', [[0.25, 0.75]]);
const ids = tensorFromNested('int64', [5]);

describe('requests', () => {
  const signature = signatureOf({ x: ['float32', [-1]] });

  test.each([
    ['application/json', '[1, 2]'],
    ['Application/JSON; charset=UTF-8', '[1, 2]'],
    ['', '[1, 2]'],
    ['application/jsonlines', '1\n2'],
    ['application/jsons', '1 2'],
    ['text/csv', '1\n2'],
    ['text/csv; charset=utf-8', '1\n2'],
  ])('Content-Type %j', async (contentType, body) => {
    const { inputs } = await decodeRequest(
      Buffer.from(body),
      decodeContext(signature, contentType),
    );
    expect(inputs.x && toNested(inputs.x)).toEqual([1, 2]);
  });

  test.each([
    'application/json; charset=utf-16',
    'text/csv; charset="UTF-32LE"',
    'application/jsonlines; charset=UCS-2',
  ])('%s is 415', async (contentType) => {
    const context = decodeContext(signature, contentType);
    await expect(decodeRequest(Buffer.from('1', 'utf16le'), context)).rejects.toMatchObject({
      status: 415,
      message: expect.stringContaining('UTF-8'),
    });
  });

  test('any image type is decoded by its bytes', async () => {
    const png = await gradient(4, 4).png().toBuffer();
    const image = signatureOf({ image: ['uint8', [-1, 2, 2, 3]] });
    for (const type of ['application/x-image', 'image/png', 'image/jpeg', 'image/anything']) {
      const { inputs } = await decodeRequest(png, decodeContext(image, type));
      expect(inputs.image?.shape).toEqual([1, 2, 2, 3]);
    }
  });

  test.each(requestMediaTypes())('%s of 0 bytes asks for the file', async (contentType) => {
    const context = decodeContext(signatureOf({ x: ['string', [-1]] }), contentType);
    await expect(decodeRequest(new Uint8Array(0), context)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'the body is empty (0 bytes). Does the file exist?',
    });
  });

  test('an unknown type is 415 with the list of the known', async () => {
    const context = decodeContext(signature, 'application/xml');
    await expect(decodeRequest(Buffer.from('<x/>'), context)).rejects.toMatchObject({
      status: 415,
      message: expect.stringContaining(requestMediaTypes().join(', ')),
    });
  });
});

describe('answers', () => {
  test.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/jsonlines', 'application/jsonlines'],
    ['application/jsons', 'application/jsonlines'],
    ['text/csv;q=0.9, application/x-npz', 'application/x-npz'],
    ['application/x-tensor, application/x-tfrecord, text/csv', 'application/x-tfrecord'],
    ['application/x-npy, application/x-npz;q=0.5', 'application/x-npz'],
  ])('Accept %j', async (accept, contentType) => {
    const encoded = await encodeResponse({ scores, ids }, accept, encodeContext());
    expect(encoded.contentType).toBe(contentType);
    expect((await bodyOf(encoded)).length).toBeGreaterThan(0);
  });

  test('nothing that fits is 406 with the list of the known', async () => {
    await expect(encodeResponse({ scores }, 'text/html', encodeContext())).rejects.toMatchObject({
      status: 406,
      message: expect.stringContaining(responseMediaTypes().join(', ')),
    });
  });

  test('a type that cannot carry the outputs is 406 with the reason', async () => {
    await expect(
      encodeResponse({ scores, ids }, 'application/x-npy', encodeContext()),
    ).rejects.toMatchObject({ status: 406, message: expect.stringContaining('ids int64') });
  });

  test('declared postprocess applies before any type', async () => {
    const postprocess = postprocessSchema.parse({ topK: { k: 1 } });
    const context = { ...encodeContext(['scores']), postprocess, labels: { topK: ['no', 'yes'] } };
    expect((await bodyOf(await encodeResponse({ scores }, undefined, context))).toString()).toBe(
      '{"predictions":[{"classes":["yes"],"scores":[0.75]}]}',
    );
    expect((await bodyOf(await encodeResponse({ scores }, 'text/csv', context))).toString()).toBe(
      '"yes",0.75\n',
    );
  });

  test('boxes are lists in JSON and lines in CSV', async () => {
    const outputs = {
      detection_boxes: tensorFromNested('float32', [[[0, 0, 0.5, 1]]]),
      detection_scores: tensorFromNested('float32', [[0.9]]),
      detection_classes: tensorFromNested('float32', [[3]]),
    };
    const context = { ...encodeContext(), postprocess: postprocessSchema.parse({ boxes: {} }) };
    expect((await bodyOf(await encodeResponse(outputs, undefined, context))).toString()).toBe(
      '{"predictions":[[{"box":[0,0,0.5,1],"score":0.9,"class":3}]]}',
    );
    expect((await bodyOf(await encodeResponse(outputs, 'text/csv', context))).toString()).toBe(
      '0,3,0.9,0.0,0.0,0.5,1.0\n',
    );
  });
});

/** Valid bodies, cut and changed at random: each must decode or be a 4xx, whatever the signature. */
describe('no bytes break a codec', () => {
  const signatures = [
    signatureOf({ image: ['uint8', [-1, 4, 4, 3]] }),
    signatureOf({ x: ['float32', [-1, 2]] }),
    signatureOf({ x: ['string', [-1]] }),
    signatureOf({ x: ['int64', [-1]], y: ['string', undefined], z: ['bool', [-1, -1]] }),
  ];

  async function bodies(): Promise<readonly (readonly [string, Buffer])[]> {
    const png = await gradient(12, 9).png().toBuffer();
    const jpeg = await gradient(12, 9).jpeg().toBuffer();
    const x = tensorFromNested('float32', [
      [1, 2],
      [3, 4],
    ]);
    const example = encodeExample({
      x: tensorFromNested('float32', [1, 2]),
      y: stringTensor([1], ['text']),
      image: stringTensor([1], [png]),
    });
    const join = (framing: (record: Uint8Array) => Uint8Array[], ...records: Uint8Array[]) =>
      Buffer.concat(records.flatMap(framing));
    return [
      ['application/json', Buffer.from('{"instances": [[1.5, 2], [-3e2, NaN]]}')],
      ['application/json', Buffer.from('{"inputs": {"x": [1, 2], "y": ["a", {"b64": "aGk="}]}}')],
      ['application/json', Buffer.from('{"examples": [{"x": [1.0], "y": "\\u00e9"}]}')],
      ['application/jsonlines', Buffer.from('[1, 2]\n[3, 9007199254740993]\n')],
      ['text/csv', Buffer.from('1,2\n3,4\n')],
      ['text/csv', Buffer.from('"a,b",c\n"d""e",f\n')],
      ['text/csv; header=present', Buffer.from('x,y\n1,"b"\n')],
      ['image/png', png],
      ['image/jpeg', jpeg],
      ['application/x-npy', Buffer.concat(encodeNpy(x))],
      ['application/x-npz', Buffer.concat(encodeNpz({ x, y: stringTensor([1], ['é']) }))],
      ['application/x-tfrecord', join(encodeTfRecord, example, example)],
      ['application/x-recordio', join(encodeRecordIo, png, jpeg)],
      [
        'application/x-recordio-protobuf',
        join(encodeRecordIo, encodeSageMakerRecord({ values: x, y: stringTensor([1], ['t']) })),
      ],
      ['application/octet-stream', join(encodeLengthPrefixed, png, example)],
    ];
  }

  async function outcome(type: string, body: Uint8Array): Promise<void> {
    for (const signature of signatures) {
      try {
        await decodeRequest(body, decodeContext(signature, type));
      } catch (error) {
        if (!(error instanceof ServingError)) {
          throw new Error(`${type}: ${Buffer.from(body).toString('base64')}`, { cause: error });
        }
        expect(error.status).toBeGreaterThanOrEqual(400);
        expect(error.status).toBeLessThan(500);
        expect(error.message.length).toBeGreaterThan(10);
      }
    }
  }

  let seed = 42;
  const random = (limit: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % limit;
  };

  test('cut anywhere', async () => {
    for (const [type, body] of await bodies()) {
      const step = Math.ceil(body.length / 25);
      for (let cut = 0; cut < body.length; cut += step) await outcome(type, body.subarray(0, cut));
    }
  });

  test('changed at random', async () => {
    for (const [type, body] of await bodies()) {
      for (let round = 0; round < 30; round++) {
        const changed = Buffer.from(body);
        for (let change = 0; change <= random(4); change++) {
          changed[random(changed.length)] = random(256);
        }
        await outcome(type, changed);
      }
    }
  });

  test('with a large number where a length may be', async () => {
    for (const [type, body] of await bodies()) {
      for (let round = 0; round < 15; round++) {
        const changed = Buffer.from(body);
        const at = random(Math.max(1, changed.length - 4));
        changed.fill(0xff, at, at + 4);
        await outcome(type, changed);
      }
    }
  });

  test('meant for another type', async () => {
    const all = await bodies();
    for (const [type] of all) for (const [, body] of all) await outcome(type, body);
  });
});
