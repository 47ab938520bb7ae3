/** Each signature of a model asked once with a made-up input: some models load and then fail at every request. */
import {
  inspectModel,
  type SignatureReport,
  type TensorReport,
  writingSignatures,
} from '@sagemaker-tfs/model-packaging';
import { runtimeError } from './runtime-error.ts';

/** Larger inputs take longer to make up than people wait. */
const MOST_ELEMENTS = 1_000_000;
const TIMEOUT_MS = 60_000;
const ANSWERS = 'it answers';

/** What became of a signature. */
export interface SignatureTry {
  /** In words. */
  readonly what: string;
  /** False if it was tried and failed. */
  readonly answers: boolean;
}

/**
 * What a runtime answers for each signature of the newest version of each model. Those that would change the model are
 * left alone: later answers would be other ones.
 * @param directory where the models are laid out
 * @param url of the runtime
 */
export async function trySignatures(
  directory: string,
  url: string,
  signal: AbortSignal,
): Promise<SignatureTry[]> {
  const { models } = await inspectModel(directory);
  const tries: SignatureTry[] = [];
  for (const { name, versions } of models) {
    const newest = versions.at(-1);
    const signatures = newest?.metaGraphs[0]?.signatures ?? {};
    const writing = newest ? writingSignatures(newest.directory, signatures) : new Set();
    for (const [key, signature] of Object.entries(signatures)) {
      if (writing.has(key)) {
        const what = `Signature ${key} of ${name} was not tried: it writes variables of the model`;
        tries.push({ what, answers: true });
        continue;
      }
      const what = `Tried signature ${key} of ${name} with a made-up input`;
      const found = await tryOne(url, name, key, signature, signal);
      if (found !== undefined) {
        tries.push({ what: `${what}: ${found}`, answers: found === ANSWERS });
      }
    }
  }
  return tries;
}

/** @returns undefined if no input can be made up */
async function tryOne(
  url: string,
  model: string,
  key: string,
  { methodName, inputs }: SignatureReport,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (/classify|regress/.test(methodName)) return undefined;
  const values = Object.entries(inputs).map(([name, spec]) => [name, madeUp(spec)] as const);
  if (values.length === 0 || values.some(([, value]) => value === undefined)) return undefined;
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      'Content-Type': 'application/json',
      'X-Amzn-SageMaker-Custom-Attributes': `tfs-model-name=${encodeURIComponent(model)}`,
    },
    body: JSON.stringify({ signature_name: key, inputs: Object.fromEntries(values) }),
  });
  const text = await response.text();
  if (response.ok) return ANSWERS;
  return `HTTP ${response.status}, ${runtimeError(text).message.slice(0, 1_000)}`;
}

/** Zeros, `false` and the text `0`; open sizes are 1. */
function madeUp({ dtype, shape }: TensorReport): unknown {
  const sizes = (shape ?? [1]).map((size) => (size < 0 ? 1 : size));
  if (sizes.reduce((product, size) => product * size, 1) > MOST_ELEMENTS) return undefined;
  const element = dtype === 'string' ? '0' : dtype === 'bool' ? false : 0;
  return sizes.reduceRight<unknown>((value, size) => Array(size).fill(value), element);
}
