/**
 * Runs that are made on the event loop: those of a small graph take less time than to hand them to another thread and
 * back. A run is known to be one after another of the same shapes was, in a graph whose cost its shapes decide.
 */
import { isNumeric, type TensorMap } from '@sagemaker-tfs/tensors';

/** What is known of a run before it is made. */
export interface Course {
  readonly isQuick: boolean;
  /** @param ms that the run took, waiting included */
  took(ms: number): void;
}

/** @returns undefined for a run that is never quick: of strings, or of a signature whose cost values decide */
export type CourseOf = (
  signature: string,
  inputs: TensorMap,
  outputs: readonly string[],
) => Course | undefined;

/** A run in a thread that took at most so long, waiting included, is quick, in milliseconds. */
const QUICK_MS = 0.5;
/** What a run on the event loop takes beyond this is owed; it may be the processor that was taken away. */
const FREE_MS = 1;
/** What each run pays back, so that it may take so much longer on average. */
const PAID_MS = 0.2;
/** With more owed than this, a signature has no quick runs any more. */
const MAX_OWED_MS = 50;
/** Shapes that are remembered of a signature; more are forgotten together. */
const MAX_SHAPES = 64;

interface Known {
  readonly shapes: Set<string>;
  owed: number;
}

/** @param varying keys of the signatures whose cost is not decided by shapes alone */
export function quickRuns(varying: ReadonlySet<string>): CourseOf {
  const signatures = new Map<string, Known>();
  return (signature, inputs, outputs) => {
    if (varying.has(signature)) return undefined;
    const known = signatures.get(signature) ?? { shapes: new Set(), owed: 0 };
    signatures.set(signature, known);
    if (known.owed > MAX_OWED_MS) return undefined;
    const shapes = shapesOf(inputs, outputs);
    if (shapes === undefined) return undefined;
    const isQuick = known.shapes.has(shapes);
    return {
      isQuick,
      took(ms) {
        if (isQuick) known.owed = Math.max(0, known.owed - PAID_MS + Math.max(0, ms - FREE_MS));
        else if (ms <= QUICK_MS) {
          if (known.shapes.size === MAX_SHAPES) known.shapes.clear();
          known.shapes.add(shapes);
        }
      },
    };
  };
}

/** Undefined for strings, whose lengths decide the cost as well. */
function shapesOf(inputs: TensorMap, outputs: readonly string[]): string | undefined {
  let text = outputs.join();
  for (const [name, tensor] of Object.entries(inputs)) {
    if (!isNumeric(tensor)) return undefined;
    text += `\n${name} ${tensor.shape.join()}`;
  }
  return text;
}
