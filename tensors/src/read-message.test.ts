import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import {
  ExampleSchema,
  FeatureSchema,
  FeaturesSchema,
  SignatureDefMapSchema,
  SignatureDefSchema,
  TensorInfoSchema,
} from './protos.ts';
import { ownEntries, readMessage } from './read-message.ts';

const NAMES = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];

function named<T>(entry: (name: string) => T): Record<string, T> {
  return Object.fromEntries(NAMES.map((name) => [name, entry(name)]));
}

const signatureDef = named((key) =>
  Object.assign(create(SignatureDefSchema, { methodName: key }), {
    inputs: named((name) => create(TensorInfoSchema, { encoding: { case: 'name', value: name } })),
  }),
);
const map = Object.assign(create(SignatureDefMapSchema), { signatureDef });
const bytes = toBinary(SignatureDefMapSchema, map);

test('maps keep the names that objects have, at every depth', () => {
  const read = readMessage(SignatureDefMapSchema, bytes);
  expect(Object.keys(read.signatureDef)).toEqual(NAMES);
  for (const [key, { methodName, inputs }] of Object.entries(read.signatureDef)) {
    expect(methodName).toBe(key);
    expect(Object.entries(inputs).map(([name, { encoding }]) => [name, encoding.value])).toEqual(
      NAMES.map((name) => [name, name]),
    );
  }
  expect(toBinary(SignatureDefMapSchema, read)).toEqual(bytes);
});

test('the library alone loses one of them', () => {
  const { signatureDef: lost } = fromBinary(SignatureDefMapSchema, bytes);
  expect(Object.keys(lost)).toEqual(NAMES.slice(0, -1));
});

test('the last of entries of one name counts', () => {
  const example = (value: number) => {
    const feature = create(FeatureSchema, {
      kind: { case: 'floatList', value: { value: [value] } },
    });
    const features = Object.assign(create(FeaturesSchema), {
      feature: Object.fromEntries([['__proto__', feature]]),
    });
    return toBinary(ExampleSchema, create(ExampleSchema, { features }));
  };
  const both = readMessage(ExampleSchema, Buffer.concat([example(1), example(2)]));
  const entries = Object.entries(both.features?.feature ?? {});
  expect(entries.map(([name, { kind }]) => [name, kind.value])).toMatchObject([
    ['__proto__', { value: [2] }],
  ]);
});

test('JSON of a map keeps them', () => {
  const json = ownEntries(toJson(SignatureDefMapSchema, map)) as { signatureDef: object };
  expect(Object.keys(json.signatureDef)).toEqual(NAMES);
});
