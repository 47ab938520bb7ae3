/** Bodies of many records, each an instance: what a record holds is found out from the first. */
import { stringTensor, type TensorMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { IMAGE_FORMATS, imageFormat } from '../images/image-format.ts';
import {
  type DecodeContext,
  type DecodedRequest,
  type DecodeLimits,
  MAX_STRINGS,
} from './codec.ts';
import { featuresToTensors } from './features.ts';
import { inputError } from './input-error.ts';
import { instanceShape } from './instance-shape.ts';
import { decodeExample } from './tf-example.ts';

/** What a record takes in memory besides its bytes: a body of empty records must not multiply. */
const RECORD_BYTES = 128;

/**
 * The records of a body.
 * @throws ServingError BAD_INPUT naming the record and its place, or where there is none; REQUEST_TOO_LARGE
 */
export function collectRecords(
  records: Iterable<Uint8Array>,
  { maxDecodedBytes }: DecodeLimits,
): Uint8Array[] {
  const all: Uint8Array[] = [];
  const most = Math.min(MAX_STRINGS, maxDecodedBytes / RECORD_BYTES);
  try {
    for (const record of records) {
      all.push(record);
      if (all.length <= most) continue;
      throw new ServingError(
        'REQUEST_TOO_LARGE',
        `more than ${all.length - 1} records in a request. Send fewer at a time.`,
      );
    }
  } catch (error) {
    throw inputError(error);
  }
  if (all.length > 0) return all;
  throw new ServingError('BAD_INPUT', 'the body is empty: send at least one record');
}

/**
 * Records to tensors: images, or tf.Examples whose features are named after inputs. For a signature whose only input
 * is a DT_STRING, records that are neither are the strings.
 * @throws ServingError 4xx naming the record
 */
export async function recordsToTensors(
  records: readonly Uint8Array[],
  context: DecodeContext,
): Promise<DecodedRequest> {
  const first = records[0] as Uint8Array;
  const text = onlyStringInput(context);
  if (imageFormat(first)) {
    const name = (index: number): string => `record ${index}`;
    if (text !== undefined)
      return { inputs: stringsToTensors(records, text, context), form: 'row' };
    const { imagesToTensors } = await import('../images/image-to-tensor.ts');
    const { framesOf } = await import('../images/frame-in-picture.ts');
    const inputs = await imagesToTensors(records, context, name);
    return { inputs, form: 'row', frames: await framesOf(records, context) };
  }
  const example = decodeExample(first);
  if (text !== undefined && !(example && Object.hasOwn(example, text))) {
    return { inputs: stringsToTensors(records, text, context), form: 'row' };
  }
  const examples = records.map((record, index) => {
    const decoded = decodeExample(record);
    if (decoded) return decoded;
    const kind = index === 0 ? `neither an image (${IMAGE_FORMATS}) nor` : 'not';
    throw new ServingError('BAD_INPUT', `record ${index} is ${kind} a tf.Example with features`);
  });
  return { inputs: await featuresToTensors(examples, context), form: 'row' };
}

/** The only input where it is a DT_STRING. */
export function onlyStringInput({ signature }: DecodeContext): string | undefined {
  const [input, ...others] = Object.entries(signature.inputs);
  return input && others.length === 0 && input[1].dtype === 'string' ? input[0] : undefined;
}

/** Every record as the string of one instance. */
export function stringsToTensors(
  records: readonly Uint8Array[],
  input: string,
  { signature }: DecodeContext,
): TensorMap {
  const words = { rows: 'records', values: 'value' };
  const shape = instanceShape(input, signature.inputs[input]?.shape, records.length, 1, words);
  return { [input]: stringTensor(shape, records) };
}
