/** Where an image lies in its frame: geometry alone, no pixels. */
import { letterbox, type Rectangle, type Size } from '@sagemaker-tfs/tensors/letterbox';

/** The part of the frame that the image fills. `letterbox` places as the runtime's `contain` does. */
export function place(image: Size, frame: Size, mode: 'stretch' | 'letterbox'): Rectangle {
  return mode === 'letterbox' ? letterbox(image, frame) : { x: 0, y: 0, ...frame };
}
