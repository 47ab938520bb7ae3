/** The shapes of the founding papers, with outputs made once from a fixed seed. */
import { DTYPES, elementCount, type NumericDType, type Tensor } from '@sagemaker-tfs/tensors';
import { uniform } from 'sagemaker-tfs/development/random';

/** A model as a front end sees it: a signature, and outputs that are always the same. */
export interface CannedCase {
  /** -1 for the batch dimension. */
  readonly inputs: Readonly<Record<string, { dtype: NumericDType; shape: readonly number[] }>>;
  readonly outputs: Readonly<Record<string, Tensor>>;
}

function floats(shape: readonly number[], seed: number): Tensor {
  const next = uniform(seed);
  const values = Float32Array.from({ length: elementCount(shape) }, next);
  return { dtype: 'float32', shape, bytes: new Uint8Array(values.buffer) };
}

/** Softmax-free scores of a classifier. */
const classifier = (): CannedCase['outputs'] => ({ logits: floats([1, 1000], 1) });

/** EfficientDet D1's 8 outputs: 29 MB of float32. */
const detector = (): CannedCase['outputs'] => ({
  detection_anchor_indices: floats([1, 100], 2),
  detection_boxes: floats([1, 100, 4], 3),
  detection_classes: floats([1, 100], 4),
  detection_multiclass_scores: floats([1, 100, 90], 5),
  detection_scores: floats([1, 100], 6),
  num_detections: floats([1], 7),
  raw_detection_boxes: floats([1, 76725, 4], 8),
  raw_detection_scores: floats([1, 76725, 90], 9),
});

/** YOLOv3's three grids for ten images: 52 MB (54.8 million bytes) of float32. */
const grids = (): CannedCase['outputs'] => ({
  grid_16: floats([10, 16, 16, 255], 10),
  grid_32: floats([10, 32, 32, 255], 11),
  grid_64: floats([10, 64, 64, 255], 12),
});

/** Cases by name. S: small image (float32 and uint8 input), B: detection, Y: many images, J: JSON row. */
export const CASES: Readonly<Record<string, () => CannedCase>> = {
  S: () => ({
    inputs: { image: { dtype: 'float32', shape: [-1, 224, 224, 3] } },
    outputs: classifier(),
  }),
  S8: () => ({
    inputs: { image: { dtype: 'uint8', shape: [-1, 224, 224, 3] } },
    outputs: classifier(),
  }),
  B: () => ({
    inputs: { input_tensor: { dtype: 'uint8', shape: [1, 640, 640, 3] } },
    outputs: detector(),
  }),
  Y: () => ({ inputs: { images: { dtype: 'uint8', shape: [-1, 512, 512, 3] } }, outputs: grids() }),
  J: () => ({
    inputs: { x: { dtype: 'float32', shape: [-1, 1000] } },
    outputs: { y: floats([1, 1000], 13) },
  }),
};

/** Total bytes of a case's outputs. */
export function outputBytes(canned: CannedCase): number {
  return Object.values(canned.outputs).reduce(
    (sum, { dtype, shape }) => sum + elementCount(shape) * DTYPES[dtype].size,
    0,
  );
}
