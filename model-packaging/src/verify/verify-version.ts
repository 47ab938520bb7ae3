/** Loads one version with TensorFlow and runs its signatures. */

import { unbatchableText } from '@sagemaker-tfs/container/unbatchable';
import { LibTensorFlowError, SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { own, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import { messageOf, PackagingError } from '../errors.ts';
import { canBeAsked, UNASKED } from '../inspect/can-be-asked.ts';
import { badSample, isServingError, type Sample } from '../samples/sample-file.ts';
import { isNoSynthetic, syntheticInputs } from '../samples/synthetic.ts';
import { syntheticExample } from '../samples/synthetic-example.ts';
import type { VersionSource } from '../source/discover.ts';
import { readWarmup } from '../warmup/warmup.ts';
import type { SignatureVerification, VersionVerification } from './report.ts';

/** Slow models are not run more often once this much time has gone. */
const ENOUGH_MS = 5000;

/** TF_Code INVALID_ARGUMENT and OUT_OF_RANGE: the model ran and did not like the values. */
const VALUES_REFUSED = new Set([3, 11]);

/** Which version to verify, and how. */
interface VersionTrial extends VersionSource {
  readonly model: string;
  readonly samples: readonly Sample[];
  /** Runs of each signature after the first. */
  readonly runs: number;
  /** Whether requests will be joined: then a note names each signature whose requests are not. */
  readonly batching: boolean;
  /** Of the archive. */
  readonly manifest: Manifest | undefined;
}

/** @throws PackagingError VERIFY_FAILED, BAD_SAMPLE */
export async function verifyVersion(trial: VersionTrial): Promise<VersionVerification> {
  const { model, version, directory } = trial;
  const name = `model ${model} version ${version}`;
  const from = performance.now();
  const session = await SavedModelSession.load(directory).catch((error: unknown) => {
    throw failed(`${name} does not load`, error);
  });
  const loadMs = performance.now() - from;
  try {
    await runWarmup(session, name, directory);
    const signatures: SignatureVerification[] = [];
    for (const sampled of trialsOf(session, trial)) {
      const what = `${name}, signature ${sampled.signature.key}`;
      signatures.push(await runTrial(session, sampled, what, trial.runs));
    }
    return { model, version, loadMs, signatures };
  } finally {
    await session.close();
  }
}

/** TensorFlow Serving does not make a version available whose warm-up fails. */
async function runWarmup(session: SavedModelSession, name: string, directory: string) {
  const requests = readWarmup(directory);
  if (requests.length === 0) return;
  const { checkedInputs } = await import('@sagemaker-tfs/container/sample-inputs');
  for (const [i, { signature, inputs }] of requests.entries()) {
    const known = own(session.signatures, signature);
    try {
      // A tensor of another rank could end this process.
      const result = await session.run(signature, known ? checkedInputs(known, inputs) : inputs);
      result.release();
    } catch (error) {
      const what = `${name}, warm-up request ${i + 1} (signature ${signature})`;
      if (!isRefusal(error) && !isServingError(error)) throw failed(`${what} fails`, error);
      const why = `${what} is refused by the model, and TensorFlow Serving does not make a version available whose warm-up fails. Give warm-up samples that the model takes`;
      throw new PackagingError('VERIFY_FAILED', `${why}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** One signature with inputs, or with the reason why it cannot be run. */
interface Trial {
  readonly signature: Signature;
  readonly sample: string;
  readonly inputs: TensorMap | undefined;
  readonly note: string;
}

/** The given samples for the signatures that have some, synthetic inputs for the others. */
function trialsOf(
  session: SavedModelSession,
  { samples, directory, batching, manifest }: VersionTrial,
): Trial[] {
  const signatures = Object.values(session.signatures);
  signatures.sort((a, b) => (a.key < b.key ? -1 : 1));
  return signatures.flatMap((signature): Trial[] => {
    const isAsked = canBeAsked(signature, manifest);
    const toKnow = (isAsked ? batching && unbatchableText(signature) : UNASKED) || '';
    const given = samples.filter(
      ({ request, inputs }) => request.signature === signature.key && inputs,
    );
    if (given.length > 0) {
      return given.map(({ request, inputs }) => ({
        signature,
        sample: request.name,
        inputs,
        note: toKnow,
      }));
    }
    return [syntheticTrial(signature, directory, toKnow)];
  });
}

function syntheticTrial(signature: Signature, directory: string, toKnow: string): Trial {
  const trial = { signature, sample: 'synthetic', inputs: undefined };
  const inputs = syntheticInputs(signature, syntheticExample(directory, signature));
  if (isNoSynthetic(inputs)) return { ...trial, note: `not run: ${inputs.reason}` };
  return { ...trial, inputs, note: toKnow };
}

async function runTrial(
  session: SavedModelSession,
  { signature, sample, inputs, note }: Trial,
  what: string,
  runs: number,
): Promise<SignatureVerification> {
  const outputs = readableOutputs(signature);
  const verification = { signature: signature.key, sample, outputs: {}, note };
  if (!inputs || outputs.length === 0) return verification;
  try {
    const times: number[] = [];
    let shapes: SignatureVerification['outputs'] = {};
    const start = performance.now();
    for (let run = 0; run <= runs; run++) {
      const from = performance.now();
      if (run > 1 && from - start > ENOUGH_MS) break;
      const result = await session.run(signature.key, inputs, { outputs });
      times.push(performance.now() - from);
      shapes = shapesOf(result.outputs);
      result.release();
    }
    const [firstMs = 0, ...others] = times;
    return { ...verification, firstMs, medianMs: median(others) ?? firstMs, outputs: shapes };
  } catch (error) {
    return { ...verification, note: refusal(error, sample, what) };
  }
}

/** The note for values that a sound model may refuse. @throws PackagingError for every other failure */
function refusal(error: unknown, sample: string, what: string): string {
  if (!(error instanceof LibTensorFlowError)) throw error;
  const isMadeUp = sample === 'synthetic';
  if (!isMadeUp && error.code !== 'RUN_FAILED') throw badSample(sample, messageOf(error), error);
  if (isMadeUp && isRefusal(error)) {
    return `the model refused made-up values: ${sentence(firstLine(messageOf(error)))} Give a sample.`;
  }
  throw failed(
    `${what} fails with ${isMadeUp ? 'synthetic inputs' : `the sample ${sample}`}`,
    error,
  );
}

/** True if the model ran and did not like the values. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof LibTensorFlowError &&
    error.code === 'RUN_FAILED' &&
    VALUES_REFUSED.has(error.tfCode ?? -1)
  );
}

function failed(what: string, error: unknown): Error {
  if (!(error instanceof LibTensorFlowError)) return error as Error;
  return new PackagingError('VERIFY_FAILED', `${what}: ${messageOf(error)}`, { cause: error });
}

/** Outputs whose dtypes are carried; sparse ones have no tensor of their own. */
function readableOutputs({ outputs }: Signature): string[] {
  return Object.entries(outputs).flatMap(([name, { dtype, tensorName }]) =>
    dtype && tensorName !== '' ? [name] : [],
  );
}

function shapesOf(outputs: TensorMap): SignatureVerification['outputs'] {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { dtype, shape }]) => [name, { dtype, shape: [...shape] }]),
  );
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
