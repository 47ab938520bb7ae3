/** Maps what the formats and tensors throw for bad data to the client's error. */
import { type DType, dtypeText, type Signature, TensorError } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

/** The client's error for anything thrown while reading its bytes, with `where` before the message. */
export function inputError(error: unknown, where = ''): unknown {
  const prefix = where === '' ? '' : `${where}: `;
  if (error instanceof ServingError && prefix !== '') {
    return new ServingError(error.code, prefix + error.message, { cause: error });
  }
  if (!(error instanceof TensorError)) return error;
  const code = error.code === 'TOO_LARGE' ? 'REQUEST_TOO_LARGE' : 'BAD_INPUT';
  return new ServingError(code, prefix + error.message, { cause: error });
}

/** Does the work; what it throws for bad data becomes the client's error. @throws ServingError (4xx) */
export function reading<T>(work: () => T, where?: string): T {
  try {
    return work();
  } catch (error) {
    throw inputError(error, where);
  }
}

/** Of a name that a client made up, what a message has room for. */
export function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 3)}...` : name;
}

const LONGEST_NAME = 80;

/** The error for an input that the signature lacks. */
export function unknownInput(
  name: string,
  { key, inputs }: Pick<Signature, 'key' | 'inputs'>,
): ServingError {
  const names = Object.keys(inputs).join(', ');
  return new ServingError(
    'UNKNOWN_INPUT',
    `signature '${key}' has no input '${shortened(name)}'. It has ${names}.`,
  );
}

/** The error for an output that the signature lacks. */
export function unknownOutput(
  name: string,
  { key, outputs }: Pick<Signature, 'key' | 'outputs'>,
): ServingError {
  const names = Object.keys(outputs).join(', ');
  return new ServingError(
    'UNKNOWN_OUTPUT',
    `signature '${key}' has no output '${shortened(name)}'. It has ${names}.`,
  );
}

/** The error for an output that no answer shows, as the archive leaves it out or shows it by another name. */
export function unansweredOutput(
  name: string,
  { key }: Pick<Signature, 'key'>,
  answered: readonly string[],
): ServingError {
  return new ServingError(
    'UNKNOWN_OUTPUT',
    `the archive answers no output '${shortened(name)}' of signature '${key}'. It answers ${answered.join(', ')}.`,
  );
}

/** The error for a signature without any output that the archive keeps. */
export function unansweredSignature(
  { key }: Pick<Signature, 'key'>,
  kept: readonly string[],
): ServingError {
  return new ServingError(
    'UNKNOWN_OUTPUT',
    `signature '${key}' has none of the outputs that the archive answers (${kept.join(', ')}). Call another signature.`,
  );
}

/** The error for an output asked for with all those that become detections. */
export function besideBoxes(name: string, read: readonly string[]): ServingError {
  return new ServingError(
    'UNKNOWN_OUTPUT',
    `the archive answers no output '${shortened(name)}' beside the detections that it makes of ${read.join(', ')}. Ask for it without one of these.`,
  );
}

/** The name of the only input, or of the only one without a default; undefined if there are several or none. */
export function onlyInputOf({ inputs }: Pick<Signature, 'inputs'>): string | undefined {
  const [name, ...others] = neededInputs(inputs);
  return others.length === 0 ? name : undefined;
}

function neededInputs(inputs: Signature['inputs']): string[] {
  const all = Object.keys(inputs);
  return all.length === 1 ? all : all.filter((name) => !inputs[name]?.hasDefault);
}

/** {@link onlyInputOf} @throws ServingError BAD_INPUT if there are several or none */
export function onlyInput(signature: Signature, mediaType: string): string {
  const name = onlyInputOf(signature);
  if (name !== undefined) return name;
  const { key, inputs } = signature;
  const all = Object.keys(inputs);
  const needed = neededInputs(inputs);
  const names = all.join(', ');
  throw new ServingError(
    'BAD_INPUT',
    `${mediaType} carries one unnamed tensor, but signature '${key}' has ${all.length} inputs (${names}). Name them: application/x-npz, or JSON such as ${namedRow(needed.length > 0 ? needed : all)}.`,
  );
}

/** A row of JSON that names inputs. */
function namedRow(names: readonly string[]): string {
  return `{"instances": [${namedValues(names)}]}`;
}

/** Values of inputs by name in JSON, of the first four of them. */
export function namedValues(names: readonly string[]): string {
  const fields = names.slice(0, 4).map((name) => `${JSON.stringify(name)}: ...`);
  const more = names.length > fields.length ? ', ...' : '';
  return `{${fields.join(', ')}${more}}`;
}

/** The dtype of an input. @throws ServingError BAD_INPUT for one that no codec carries */
export function dtypeOf(name: string, { key, inputs }: Pick<Signature, 'key' | 'inputs'>): DType {
  const spec = inputs[name];
  if (spec?.dtype) return spec.dtype;
  if (!spec) throw unknownInput(name, { key, inputs });
  throw new ServingError(
    'BAD_INPUT',
    `input '${name}' has dtype ${dtypeText(spec)}, which this runtime does not carry.`,
  );
}
