/** How a client learns names and shapes of outputs that the body itself does not name. */
import type { TensorMap } from '@sagemaker-tfs/tensors';
import { OUTPUT_SHAPES_ATTRIBUTE } from '@sagemaker-tfs/tensors/custom-attributes';

/**
 * `tfs-output-shapes`: `name:sizes` for each output in the order of the body, outputs parted by `;`, sizes
 * by `x`, names as `encodeURIComponent` writes them: `boxes:1x100x4;scores:1x100`. A scalar has no sizes.
 */
export function outputShapes(outputs: TensorMap): Readonly<Record<string, string>> {
  const parts = Object.entries(outputs).map(
    ([name, { shape }]) => `${encodeURIComponent(name)}:${shape.join('x')}`,
  );
  return { [OUTPUT_SHAPES_ATTRIBUTE]: parts.join(';') };
}
