/** Outputs of a batch parted among its requests, and those of a request's parts joined. */
import { concat, split, type Tensor } from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { rowShape, total } from './merge-inputs.ts';
import { likeness, type Variety } from './same-rows.ts';
import type { RunResult } from './session.ts';
import { failedPrecondition, StatusError } from './status-error.ts';
import type { Trial } from './trials.ts';

/** One result a request; the batch's memory is released with the last of them. */
export function splitOutputs(
  result: RunResult,
  sizes: readonly number[],
  requests: number,
): RunResult[] {
  let held = requests;
  const release = () => {
    held -= 1;
    if (held === 0) result.release();
  };
  try {
    const parts = Object.entries(result.outputs).map(
      ([name, tensor]) => [name, splitRows(tensor, sizes)] as const,
    );
    return Array.from({ length: requests }, (_, index) => ({
      outputs: Object.fromEntries(parts.map(([name, tensors]) => [name, tensors[index] as Tensor])),
      version: result.version,
      release,
    }));
  } catch (error) {
    result.release();
    throw error;
  }
}

function splitRows(tensor: Tensor, sizes: readonly number[]): Tensor[] {
  if (tensor.shape.length === 0) throw failedPrecondition('Batched output tensor has 0 dimensions');
  if (!hasRows(tensor, sizes)) {
    throw new StatusError(
      Code.FAILED_PRECONDITION,
      "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors",
    );
  }
  return split(tensor, sizes);
}

/** How each output of a batch compares with the requests' own. A batch of parts lacks those that cannot be joined. */
export function compare(
  together: Readonly<Record<string, Tensor | undefined>>,
  alone: readonly RunResult[],
  sizes: readonly number[],
  variety: Variety,
): Trial['outputs'] {
  const compared = Object.entries(together).map(([name, tensor]) => {
    if (!tensor || !hasRows(tensor, sizes)) return [name, 'other'] as const;
    const parts = split(tensor, sizes);
    const pairs = alone.map(({ outputs }, at) => ({
      inCompany: parts[at] as Tensor,
      alone: outputs[name] as Tensor,
    }));
    return [name, likeness(pairs, variety)] as const;
  });
  return new Map(compared);
}

export function hasRows({ shape }: Tensor, sizes: readonly number[]): boolean {
  return shape[0] === total(sizes);
}

/** The parts of one request as one: an output is undefined if some part of it does not have the rows of its inputs. */
export type JoinedParts = Omit<RunResult, 'outputs'> & {
  readonly outputs: Readonly<Record<string, Tensor | undefined>>;
};

export function isOfRows(parts: JoinedParts): parts is RunResult {
  return !Object.values(parts.outputs).includes(undefined);
}

/**
 * The results of the parts of one request as one.
 * @throws StatusError UNAVAILABLE if they are of different versions; they are released then
 */
export function joinResults(
  outputs: readonly string[],
  results: readonly RunResult[],
  sizes: readonly number[],
): JoinedParts {
  const [first] = results;
  if (results.some(({ version }) => version !== first?.version)) {
    releaseAll(results);
    throw new StatusError(
      Code.UNAVAILABLE,
      'The model changed to another version while the request ran in several batches. Send it again.',
    );
  }
  const joined = outputs.map((name) => {
    const tensors = results.map((result) => result.outputs[name] as Tensor);
    return [name, joinRows(tensors, sizes)] as const;
  });
  return {
    outputs: Object.fromEntries(joined),
    version: first?.version,
    // Not before: strings are views on the parts' memory.
    release: () => releaseAll(results),
  };
}

/**
 * Undefined if some part does not have the rows of its inputs: behind each other they would be in another order than
 * those of the whole. Or if their sizes differ beyond the first dimension.
 */
function joinRows(tensors: readonly Tensor[], sizes: readonly number[]): Tensor | undefined {
  const [first] = tensors.map(rowShape);
  const areRows = tensors.every((one, at) => one.shape[0] === sizes[at]);
  return areRows && tensors.every((one) => rowShape(one) === first) ? concat(tensors) : undefined;
}

/** The results of runs that are made at the same time. @throws the first error, when all are over */
export async function allResults(runs: readonly Promise<RunResult>[]): Promise<RunResult[]> {
  const ended = await Promise.allSettled(runs);
  const results = ended.flatMap((run) => (run.status === 'fulfilled' ? [run.value] : []));
  const failed = ended.find((run) => run.status === 'rejected');
  if (!failed) return results;
  releaseAll(results);
  throw failed.reason;
}

/** Of parts that failed there is none. */
export function releaseAll(results: readonly RunResult[]): void {
  results.forEach((result) => {
    result.release();
  });
}
