/** Small messages that would become very many objects are refused before they are parsed. */
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { encodeTensorProto, tensorFromValues } from '@sagemaker-tfs/tensors';
import {
  ClassificationRequestSchema,
  ExampleSchema,
  PredictRequestSchema,
} from '@sagemaker-tfs/tensors/protos';
import { checkParsedSize } from './parsed-size.ts';

const SMALL = 2_000_000;
const MOST = 20_000_000;

/** A field of a message in a message, and so on. */
function within(path: readonly number[], content: Uint8Array): Uint8Array {
  return path.reduceRight<Uint8Array>(
    (inner, number) => new BinaryWriter().tag(number, 2).bytes(inner).finish(),
    content,
  );
}
const filled = (...piece: number[]) => Buffer.alloc(SMALL, Uint8Array.from(piece));
/** ClassificationRequest.input.example_list.examples[0].features. */
const FEATURES = [2, 1, 1, 1];

test.each<[string, Uint8Array]>([
  ['examples', within([2, 1], filled(0x0a, 0))],
  ['features', within(FEATURES, filled(0x0a, 0))],
  ['lists of one feature', within([...FEATURES, 1, 2], filled(0x1a, 0))],
  ['packed int64', within([...FEATURES, 1, 2, 3, 1], filled(7))],
  ['int64 one by one', within([...FEATURES, 1, 2, 3], filled(0x08, 7))],
  ['strings', within([...FEATURES, 1, 2, 1], filled(0x0a, 0))],
  ['fields that nobody knows', filled(0x78, 0)],
])('two megabytes of %s', (_, message) => {
  expect(() => checkParsedSize(ClassificationRequestSchema, message, MOST)).toThrow(
    expect.objectContaining({
      code: 8,
      message: expect.stringContaining('Parsed, the message of'),
    }),
  );
});

test('messages in messages without end', () => {
  // tensor_proto.variant_val.tensors.variant_val...
  const path = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? 15 : 3));
  const deep = within([2, 2, ...path], new Uint8Array(0));
  expect(() => checkParsedSize(PredictRequestSchema, deep)).toThrow(
    expect.objectContaining({ code: 13 }),
  );
});

test('what clients send is not refused: a thousand examples, a tensor of two megabytes', () => {
  const example = create(ExampleSchema, {
    features: {
      feature: { x: { kind: { case: 'floatList', value: { value: Array(100).fill(1.5) } } } },
    },
  });
  const request = create(ClassificationRequestSchema, {
    input: { kind: { case: 'exampleList', value: { examples: Array(1000).fill(example) } } },
  });
  const bytes = toBinary(ClassificationRequestSchema, request);
  expect(() => checkParsedSize(ClassificationRequestSchema, bytes, MOST)).not.toThrow();
  const tensor = Buffer.concat(encodeTensorProto(tensorFromValues('uint8', [4], [1, 2, 3, 4])));
  const predict = new BinaryWriter().tag(2, 2).fork().tag(1, 2).string('x').tag(2, 2).bytes(tensor);
  expect(() => checkParsedSize(PredictRequestSchema, predict.join().finish(), MOST)).not.toThrow();
});

test('bytes that are no message are left to the parser', () => {
  expect(() => checkParsedSize(ClassificationRequestSchema, Uint8Array.of(0x0a, 5))).not.toThrow();
});
