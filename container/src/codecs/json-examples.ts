/** The `examples` form: feature dictionaries, which become tf.Examples. */
import {
  FloatLiteral,
  isBase64Object,
  type Tensor,
  type TensorMap,
  tensorFromJson,
} from '@sagemaker-tfs/tensors';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { type DecodeContext, placeOf } from './codec.ts';
import { featuresToTensors } from './features.ts';
import { reading } from './input-error.ts';
import { onlyStringInput, stringsToTensors } from './records.ts';
import { encodeExample } from './tf-example-writer.ts';

/** TensorFlow Serving's "Classify and Regress API". */
export interface ExamplesDocument {
  readonly examples?: unknown;
  /** Features that all its examples have. */
  readonly context?: unknown;
}

/**
 * Serialized tf.Examples for a signature whose only input is a DT_STRING (all that classify, regress and
 * `parse_example` graphs take); else their features as inputs. Those of several documents come one after the other.
 * @param documents parsed by `parseJsonLiteralDocuments`: how a number is written decides its feature's type
 * @throws ServingError BAD_INPUT naming the feature
 */
export async function examplesToTensors(
  documents: readonly ExamplesDocument[],
  context: DecodeContext,
): Promise<TensorMap> {
  const { limits } = context;
  const text = onlyStringInput(context);
  // An input may be of more digits than a tf.Example has.
  const float = text === undefined ? 'float64' : 'float32';
  const records = documents.flatMap((document, index) => {
    const place = documents.length > 1 ? `document ${placeOf(context, index)}: ` : '';
    return recordsOf(document, place, { limits, float });
  });
  if (text === undefined) return featuresToTensors(records, context);
  const serialized = records.map((record) => encodeExample(record, { kindOfEmpty: false }));
  return stringsToTensors(serialized, text, context);
}

/** How features are read. */
interface Reading {
  readonly limits: DecodeLimits;
  readonly float: 'float32' | 'float64';
}

function recordsOf(
  { examples, context }: ExamplesDocument,
  place: string,
  how: Reading,
): TensorMap[] {
  if (!Array.isArray(examples) || examples.length === 0) {
    throw new ServingError(
      'BAD_INPUT',
      `${place}"examples" must be a list of feature dictionaries.`,
    );
  }
  const common = context === undefined ? {} : featuresOf(context, `${place}context`, how);
  return examples.map((example, index) => {
    return { ...common, ...featuresOf(example, `${place}examples[${index}]`, how) };
  });
}

function featuresOf(example: unknown, where: string, how: Reading): TensorMap {
  if (!isObject(example)) {
    throw new ServingError('BAD_INPUT', `${where} must be an object of features.`);
  }
  const entries = Object.entries(example).map(([name, value]) => {
    if (!HALF_PAIR.test(name)) return [name, vectorOf(value, `${where}.${name}`, how)] as const;
    throw new ServingError(
      'BAD_INPUT',
      `${where}: a name has half a surrogate pair, which is no text.`,
    );
  });
  return Object.fromEntries(entries);
}

/** Such a name would become another one in UTF-8. */
const HALF_PAIR = /\p{Surrogate}/u;

type Kind = 'bytes' | 'float' | 'int64';

/** A feature's values, of one kind. An empty list has none: encoded, it is as good as left out. */
function vectorOf(value: unknown, where: string, { limits, float }: Reading): Tensor {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const first = list.length > 0 ? kindOf(list[0], `${where}[0]`) : 'int64';
  for (const [index, item] of list.entries()) {
    const kind = kindOf(item, `${where}[${index}]`);
    if (kind === first) continue;
    throw new ServingError(
      'BAD_INPUT',
      `${where}[${index}] is of type ${kind}, but the feature's first value is ${first}. ${KINDS}`,
    );
  }
  const values = first === 'bytes' ? list : list.map(numberOf);
  const dtype = { bytes: 'string', float, int64: 'int64' } as const;
  return reading(() => tensorFromJson(dtype[first], values, where, limits.maxStrings));
}

const KINDS =
  'Strings and {"b64"} are bytes; numbers with a fraction or an exponent (1.0) are floats; other numbers and booleans are int64.';

/** As TensorFlow Serving has it: by the way it is written. @throws ServingError BAD_INPUT for what is no value */
function kindOf(item: unknown, where: string): Kind {
  if (typeof item === 'string' || isBase64Object(item)) return 'bytes';
  if (item instanceof FloatLiteral) return 'float';
  // Bare NaN and infinities, which are no literals.
  if (typeof item === 'number') return Number.isInteger(item) ? 'int64' : 'float';
  if (typeof item === 'bigint' || typeof item === 'boolean') return 'int64';
  const what = item === null ? 'null' : Array.isArray(item) ? 'a list' : 'an object';
  throw new ServingError('BAD_INPUT', `${where}: ${what} is no value of a feature. ${KINDS}`);
}

function numberOf(item: unknown): unknown {
  if (item instanceof FloatLiteral) return item.value;
  return typeof item === 'boolean' ? Number(item) : item;
}

function isObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return !Array.isArray(value) && !(value instanceof FloatLiteral);
}
