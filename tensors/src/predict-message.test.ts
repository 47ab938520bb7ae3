import { fromBinary } from '@bufbuild/protobuf';
import { fromBase64, goldenJson } from '../fixtures/read.ts';
import { PredictRequestSchema, PredictResponseSchema } from './gen/serving_pb.ts';
import {
  decodePredictRequest,
  decodePredictResponse,
  decodePredictResponseInTurns,
  encodePredictRequest,
  encodePredictRequestInTurns,
  encodePredictResponse,
} from './predict-message.ts';
import { numericTensor, stringTensor } from './tensor.ts';
import { toNested } from './typed-array.ts';

const golden = goldenJson<{ request: string; response: string }>('predict-messages.json');

describe('PredictRequest', () => {
  test('reads what TensorFlow Serving’s own API writes', () => {
    const request = decodePredictRequest(fromBase64(golden.request));
    expect(request.model).toEqual({ name: 'détecteur', version: '20240131235959001' });
    expect(request.signature).toBe('serving_default');
    expect(request.outputs).toEqual(['detection_boxes', 'detection_scores']);
    expect(Object.keys(request.inputs)).toEqual(['image', 'name']);
    const { image, name } = request.inputs;
    expect(image && toNested(image)).toEqual([
      [0, 1, 2],
      [127, 128, 255],
    ]);
    expect(name?.shape).toEqual([4]);
  });

  test('written, the generated reader finds the same', () => {
    const image = numericTensor('uint8', [1, 2000], new Uint8Array(2000).fill(9));
    const chunks = encodePredictRequest({
      model: { name: 'm', version: '9223372036854775807' },
      signature: 'serving_default',
      inputs: { image, key: stringTensor([1], ['k']) },
      outputs: ['scores'],
    });
    const request = fromBinary(PredictRequestSchema, Buffer.concat(chunks));
    expect(request.modelSpec).toMatchObject({
      name: 'm',
      versionChoice: { case: 'version', value: { value: 2n ** 63n - 1n } },
      signatureName: 'serving_default',
    });
    expect(request.outputFilter).toEqual(['scores']);
    expect(Object.keys(request.inputs)).toEqual(['image', 'key']);
    expect(request.inputs.image?.tensorContent).toEqual(image.bytes);
    expect(chunks.some((chunk) => chunk.buffer === image.bytes.buffer)).toBe(true);
  });

  test('a label, and neither version nor label', () => {
    const inputs = {};
    const labelled = { model: { name: 'm', label: 'canary' }, signature: '', inputs };
    expect(decodePredictRequest(Buffer.concat(encodePredictRequest(labelled)))).toEqual(labelled);
    const newest = { model: { name: 'm' }, signature: '', inputs };
    expect(decodePredictRequest(Buffer.concat(encodePredictRequest(newest)))).toEqual(newest);
  });
});

describe('PredictResponse', () => {
  test('reads what TensorFlow Serving’s own API writes, tensors as views', () => {
    const bytes = fromBase64(golden.response);
    const response = decodePredictResponse(bytes);
    expect(response.model).toEqual({ name: 'détecteur', version: '20240131235959001' });
    const scores = response.outputs.detection_scores;
    expect(scores?.dtype === 'float32' && scores.bytes.buffer).toBe(bytes.buffer);
    expect(scores?.shape).toEqual([2, 3]);
    expect(response.outputs.names?.dtype).toBe('string');
  });

  test('written, the generated reader finds the same, in the order given', () => {
    const scores = numericTensor('float32', [2], new Float32Array([0.5, 1]));
    const outputs = { scores, boxes: numericTensor('int64', [0, 4], new Uint8Array(0)) };
    const chunks = encodePredictResponse({
      model: { name: 'm', version: '1' },
      signature: 'serving_default',
      outputs,
    });
    const response = fromBinary(PredictResponseSchema, Buffer.concat(chunks));
    expect(response.modelSpec?.versionChoice.value).toMatchObject({ value: 1n });
    expect(Object.keys(response.outputs)).toEqual(['scores', 'boxes']);
    expect(response.outputs.scores?.tensorContent).toEqual(scores.bytes);
  });

  test('an error in a tensor names the output', () => {
    const bytes = Buffer.concat(
      encodePredictResponse({
        model: { name: 'm', version: '1' },
        signature: '',
        outputs: { scores: { dtype: 'float32', shape: [3], bytes: new Uint8Array(5) } },
      }),
    );
    expect(() => decodePredictResponse(bytes)).toThrow(
      /^output "scores": tensor_content of float32 \[3\] has 5 bytes, not 12$/,
    );
  });

  test('every truncation is refused or reads as a shorter message', () => {
    const bytes = fromBase64(golden.response);
    let refused = 0;
    for (let length = 0; length < bytes.byteLength; length++) {
      try {
        decodePredictResponse(bytes.subarray(0, length));
      } catch (error) {
        expect(error).toHaveProperty('name', 'TensorError');
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(bytes.byteLength - 10);
  });

  test('an output named __proto__ is an output', () => {
    const outputs = Object.fromEntries([
      ['__proto__', numericTensor('int8', [], new Int8Array(1))],
    ]);
    const message = { model: { name: 'm', version: '1' }, signature: '', outputs };
    const back = decodePredictResponse(Buffer.concat(encodePredictResponse(message)));
    expect(Object.keys(back.outputs)).toEqual(['__proto__']);
  });
});

describe('a PredictResponse of many strings', () => {
  const count = 40_000;
  const text = stringTensor(
    [count],
    Array.from({ length: count }, (_, index) => `${index}`),
  );
  const outputs = { text, again: text, x: numericTensor('float32', [1], Float32Array.of(1)) };
  const message = Buffer.concat(
    encodePredictResponse({ model: { name: 'm' }, signature: 's', outputs }),
  );

  test('a request of as many is written in turns, and as at once', async () => {
    let turns = 0;
    const request = { model: { name: 'm' }, signature: 's', inputs: outputs };
    const written = await encodePredictRequestInTurns(request, async () => {
      turns++;
    });
    expect(turns).toBeGreaterThanOrEqual(8);
    expect(Buffer.concat(written).equals(Buffer.concat(encodePredictRequest(request)))).toBe(true);
    const { inputs } = decodePredictRequest(Buffer.concat(written));
    expect((inputs.again as typeof text).values.at(-1)).toEqual(text.values.at(-1));
  });

  test('is read in turns, and as at once', async () => {
    let turns = 0;
    const nextTurn = async () => {
      turns++;
    };
    const options = { maxStrings: 2 * count, nextTurn };
    const read = await decodePredictResponseInTurns(message, options);
    expect(turns).toBeGreaterThanOrEqual(8);
    expect(read).toEqual(decodePredictResponse(message));
    expect((read.outputs.again as typeof text).values.at(-1)).toEqual(text.values.at(-1));
  });

  test('of all outputs together, more strings than the limit are refused', async () => {
    const options = { maxStrings: 2 * count - 1, nextTurn: async () => {} };
    await expect(decodePredictResponseInTurns(message, options)).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
  });
});
