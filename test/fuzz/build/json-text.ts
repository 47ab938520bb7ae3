/** JSON and CSV that fit a signature, with a wrong value or form now and then. */
import type { DType, Signature, TensorSpec } from '@sagemaker-tfs/tensors';
import { pick, type Random } from '../random.ts';
import { slip, slipTo } from './bytes.ts';

const FLOATS = ['0', '1.5', '-2', '1e3', '0.1', '-0', '3.4028235e38', '1e-45', '12345678', '5E+2'];
const INTEGERS = ['0', '1', '-1', '7', '127', '255', '65536', '9007199254740993', '-128'];
const STRINGS = [
  '"a"',
  '""',
  '"\\u00e9\\n"',
  '"text"',
  '{"b64":"YWI="}',
  '{"b64":""}',
  '"\\ud83d\\ude00"',
];
const WRONG = [
  'null',
  'NaN',
  '-Infinity',
  '1e400',
  '"1"',
  'true',
  '{}',
  '[]',
  '[1]',
  '1.5',
  '-1',
  '{"b64":"@"}',
  '{"b64":1}',
  '"\\ud800"',
  '01',
  '99999999999999999999',
  '{"b64":"AA==","x":1}',
];

function element(random: Random, dtype: DType | undefined): string {
  if (dtype === 'string') return pick(random, STRINGS);
  if (dtype === 'bool') return random(2) ? 'true' : 'false';
  if (dtype === 'uint8') return String(random(256));
  return pick(random, dtype?.startsWith('float') ? FLOATS : INTEGERS);
}

/** Sizes that the shape allows. */
export function sizesOf(random: Random, { shape }: TensorSpec): number[] {
  if (!shape) return Array.from({ length: random(4) }, () => random(3));
  return shape.map((size) => slip(random, size === -1 ? 1 + random(3) : size) % 17);
}

function nested(random: Random, sizes: readonly number[], leaf: () => string): string {
  const [size, ...rest] = sizes;
  if (size === undefined) return leaf();
  const count = random(400) === 0 ? size + 1 : size;
  const parts = Array.from({ length: count }, () => nested(random, rest, leaf));
  return `[${parts.join(random(16) ? ',' : ' ,\n')}]`;
}

/** A tensor of such sizes; at most one of its values does not fit. */
export function tensorText(
  random: Random,
  { dtype }: TensorSpec,
  sizes: readonly number[],
): string {
  const count = sizes.reduce((product, size) => product * size, 1);
  let left = random(5) === 0 ? random(count + 1) : -1;
  return nested(random, sizes, () => (left-- === 0 ? pick(random, WRONG) : element(random, dtype)));
}

const rowOf = (random: Random, spec: TensorSpec): string =>
  tensorText(random, spec, sizesOf(random, spec).slice(1));

function object(random: Random, members: readonly (readonly [string, string])[]): string {
  const more = random(24) === 0 ? [pick(random, [...members, ['y', '1'] as const])] : [];
  const all = random(24) === 0 ? members.slice(1) : [...members, ...more];
  return `{${all.map(([name, value]) => `"${name}": ${value}`).join(', ')}}`;
}

/** A row of all inputs: the value itself where there is one, else an object. */
function instanceText(random: Random, { inputs }: Signature): string {
  const all = Object.entries(inputs);
  const [only] = all;
  if (all.length === 1 && only && random(3)) return rowOf(random, only[1]);
  return object(
    random,
    all.map(([name, spec]) => [name, rowOf(random, spec)] as const),
  );
}

function columns(random: Random, { inputs }: Signature): string {
  const all = Object.entries(inputs);
  const [only] = all;
  if (all.length === 1 && only && random(2)) {
    return tensorText(random, only[1], sizesOf(random, only[1]));
  }
  return object(
    random,
    all.map(([name, spec]) => [name, tensorText(random, spec, sizesOf(random, spec))] as const),
  );
}

const MORE = [
  '"signature_name":"serving_default"',
  '"signature_name":1',
  '"signature_name":"no"',
  '"x":1',
  '"inputs":1',
  '"instances":[]',
];

/** A request in one of the forms that TensorFlow Serving and its SageMaker container know. */
export function requestText(random: Random, signature: Signature): string {
  const rows = Array.from({ length: 1 + random(3) }, () => instanceText(random, signature));
  const list = `[${rows.join(',')}]`;
  const member = pick(random, [
    `"instances":${list}`,
    `"inputs":${columns(random, signature)}`,
    `"examples":${examplesText(random, signature)}`,
    undefined,
  ]);
  if (member === undefined) return random(2) ? list : (rows[0] as string);
  const members = random(6) ? [member] : [member, pick(random, MORE)];
  return `{${(random(2) ? members : members.toReversed()).join(',')}}`;
}

function examplesText(random: Random, { inputs }: Signature): string {
  const one = () =>
    object(
      random,
      Object.entries(inputs).map(
        ([name, spec]) => [name, tensorText(random, spec, random(2) ? [] : [random(3)])] as const,
      ),
    );
  return `[${Array.from({ length: 1 + random(2) }, one).join(',')}]`;
}

/** Lines, each a document. */
export function linesText(random: Random, signature: Signature): string {
  const lines = Array.from({ length: 1 + random(4) }, () => instanceText(random, signature));
  return lines.join(slipTo(random, '\n', ['', '\r\n', '\n\n', ',', ' '])) + (random(2) ? '\n' : '');
}

const CELLS = ['', ' ', '"', 'nan', '1e400', '0x1', '"a""b"', '"a\nb"', 'x,', '-', '+1', 'true'];

/** Rows of a column each, or of as many columns as a row of the input has. */
export function csvText(random: Random, { inputs }: Signature, header: boolean): string {
  const all = Object.entries(inputs);
  const columnSpecs = header
    ? all
    : all.slice(0, 1).flatMap(([name, spec]) => {
        const width = sizesOf(random, spec)
          .slice(1)
          .reduce((product, size) => product * size, 1);
        return Array.from({ length: Math.min(width, 200) }, () => [name, spec] as const);
      });
  let wrong = random(3) === 0 ? random(1 + columnSpecs.length * 3) : -1;
  const cell = ({ dtype }: TensorSpec) => {
    if (wrong-- === 0) return pick(random, CELLS);
    return dtype === 'string'
      ? pick(random, ['a', '"b, c"', '"d ""e"""', 'é'])
      : element(random, dtype);
  };
  const end = slipTo(random, '\n', ['\r\n', '\r', '\n\n', ';']);
  const rows = Array.from({ length: 1 + random(3) }, () =>
    columnSpecs.map(([, spec]) => cell(spec)).join(slipTo(random, ',', [';', ',,', '\t'])),
  );
  const names = slipTo(random, all.map(([name]) => name).join(','), ['y', 'x,x', '', '"x"']);
  return [...(header ? [names] : []), ...rows].join(end) + (random(2) ? end : '');
}

/** Any value of JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'a',
  [],
  {},
  [[]],
  [null],
  2 ** 53,
  '1',
  [1, 2, 3],
  [1, 'a'],
];

/** Of the same kind, mostly. */
function otherScalar(random: Random, value: null | boolean | number | string): Json {
  if (random(3) === 0) return pick(random, VALUES);
  if (typeof value === 'number') return pick(random, [0, 1, 2, 3, 255, -1, 0.5, 2 ** 31, 2 ** 53]);
  if (typeof value === 'boolean') return !value;
  return typeof value === 'string' ? pick(random, ['1', 'a', '2', value, `${value}x`, '']) : value;
}

/** The value with one part of it changed, left out, or said twice. */
export function changedJson(random: Random, value: Json): Json {
  if (typeof value !== 'object' || value === null) return otherScalar(random, value);
  if (random(12) === 0) return pick(random, VALUES);
  if (Array.isArray(value)) {
    if (value.length === 0) return [pick(random, VALUES)];
    const at = random(value.length);
    const part = value[at] as Json;
    if (random(6) === 0) return value.toSpliced(at, 1);
    if (random(6) === 0) return [...value, part];
    return value.with(at, changedJson(random, part));
  }
  const names = Object.keys(value);
  const name = names[random(names.length + 1)];
  if (name === undefined) {
    return {
      ...value,
      [pick(random, ['x', '__proto__', 'constructor', ''])]: pick(random, VALUES),
    };
  }
  if (random(6) === 0) return Object.fromEntries(Object.entries(value).filter(([n]) => n !== name));
  return { ...value, [name]: changedJson(random, value[name] as Json) };
}
