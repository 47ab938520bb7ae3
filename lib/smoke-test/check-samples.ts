/** Finds at synthesis what would make the smoke test fail after twenty minutes of deployment. */
import { readFileSync, statSync } from 'node:fs';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { decodeNpy, parseJson, type Tensor } from '@sagemaker-tfs/tensors';
import { checkOneOf, invalidProp, type Where } from '../validation.ts';
import { isJsonFile } from './handler/expectations.ts';
import { parseJsonPath } from './handler/json-path.ts';
import type { Expectation, SmokeTestSample } from './plan.ts';

/** Largest body of InvokeEndpoint, bytes. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;

/** @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/**
 * Checks samples and, where no handler stands between, that the model's signature takes them.
 * @param manifestsOf what the models that a sample is for hold, as far as they were packaged here
 * @param async whether the endpoint takes requests through a queue, from S3
 */
export function checkSamples(
  where: Where,
  samples: readonly SmokeTestSample[],
  manifestsOf: (sample: SmokeTestSample) => readonly Manifest[],
  async: boolean,
): void {
  const names = samples.map(({ name }) => name);
  samples.forEach((sample, i) => {
    const prop = `samples[${i}]`;
    if (names.indexOf(sample.name) < i) {
      invalidProp(where, `${prop}.name`, `'${sample.name}' is used twice`, 'Give another');
    }
    for (const header of ['accept', 'customAttributes'] as const) {
      if (HEADER_TEXT.test(sample[header] ?? '')) continue;
      const problem = 'SageMaker takes visible ASCII alone';
      invalidProp(where, `${prop}.${header}`, problem, 'Percent-encode the rest');
    }
    const size = checkFile(where, `${prop}.file`, sample.file);
    if (size > MAX_BODY_BYTES && !async) {
      const problem = `${sample.file} has ${size} bytes, and a request at most ${MAX_BODY_BYTES}`;
      invalidProp(where, `${prop}.file`, problem, 'Use a smaller sample');
    }
    sample.expect?.forEach((item, j) => {
      checkExpectation(where, `${prop}.expect[${j}]`, item);
    });
    for (const manifest of manifestsOf(sample)) {
      if (manifest.handler || manifest.preprocess) continue;
      checkAgainstSignature(where, `${prop}.file`, sample, manifest);
    }
  });
}

function checkFile(where: Where, prop: string, file: string): number {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile()) return stat.size;
  return invalidProp(where, prop, `${file} is not a file`, 'Paths start at the current directory');
}

const KINDS = ['equals', 'topClass', 'shape', 'golden'];

function checkExpectation(where: Where, prop: string, expectation: Expectation): void {
  try {
    parseJsonPath(expectation.path ?? '$');
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    invalidProp(where, `${prop}.path`, problem, 'Write for example $.predictions[0].score');
  }
  checkOneOf(where, prop, expectation, KINDS);
  if (!('golden' in expectation)) return;
  checkFile(where, `${prop}.golden`, expectation.golden);
  if (isJsonFile(expectation.golden)) {
    checkJson(where, `${prop}.golden`, expectation.golden, 'Write it anew');
    return;
  }
  const { dtype } = readNpy(where, `${prop}.golden`, expectation.golden);
  if (dtype !== 'string') return;
  invalidProp(where, `${prop}.golden`, `${expectation.golden} holds strings`, `Use a .json file`);
}

function readNpy(where: Where, prop: string, file: string): Tensor {
  try {
    return decodeNpy(readFileSync(file));
  } catch (error) {
    const problem = `${file} is not a .npy file: ${error instanceof Error ? error.message : error}`;
    return invalidProp(where, prop, problem, 'Write it with numpy.save');
  }
}

function checkAgainstSignature(
  where: Where,
  prop: string,
  sample: SmokeTestSample,
  manifest: Manifest,
): void {
  const { serving_default: signature } = manifest.models[0]?.signatures ?? {};
  const inputs = Object.entries(signature?.inputs ?? {});
  const type = sample.contentType.split(';')[0];
  if (type === 'application/json') {
    checkJson(where, prop, sample.file, 'The model would reject it; correct it');
  }
  const [first] = inputs;
  if (type !== 'application/x-npy' || inputs.length !== 1 || !first) return;
  const [name, spec] = first;
  const tensor = readNpy(where, prop, sample.file);
  const { shape } = spec;
  const fits =
    tensor.dtype === spec.dtype &&
    (shape === null ||
      (shape.length === tensor.shape.length &&
        shape.every((size, i) => size === -1 || size === tensor.shape[i])));
  if (fits) return;
  invalidProp(
    where,
    prop,
    `${sample.file} is ${tensor.dtype} [${tensor.shape.join(', ')}], and the model's input '${name}' ${spec.dtype} [${shape?.join(', ') ?? 'any'}]`,
    'The model would reject it; give a sample of that dtype and shape',
  );
}

function checkJson(where: Where, prop: string, file: string, advice: string): void {
  try {
    parseJson(readFileSync(file));
  } catch (error) {
    const problem = `${file} is not JSON: ${error instanceof Error ? error.message : error}`;
    invalidProp(where, prop, problem, advice);
  }
}
