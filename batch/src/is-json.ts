import { parseJson, TensorError } from '@sagemaker-tfs/tensors';

/** Whether a text is one document of JSON, as the runtime writes it: with bare NaN and infinities. */
export function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch (error) {
    if (error instanceof TensorError) return false;
    throw error;
  }
}
