/** Whether requests can call a signature of an archive. */
import { answeredNames } from '@sagemaker-tfs/container/asked-outputs';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { METHOD_NAMES } from '@sagemaker-tfs/tensors';

/** What is looked at of a signature, or of a report of one. */
interface Askable {
  readonly methodName: string;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** True for classify and regress: with `tfs-method` they answer `results`. */
export function answersResults({ methodName }: Pick<Askable, 'methodName'>): boolean {
  return methodName === METHOD_NAMES.classify || methodName === METHOD_NAMES.regress;
}

/** Why a signature cannot. */
export const UNASKED = '`postprocess.outputs` names none of its outputs, so no request can call it';

/**
 * False if `postprocess.outputs` of the archive names none of its outputs: the runtime refuses such requests. A handler may name
 * others itself, and `tfs-method` answers results instead of outputs.
 */
export function canBeAsked(signature: Askable, manifest: Manifest | undefined): boolean {
  if (!manifest?.postprocess?.outputs || manifest.handler !== undefined) return true;
  return answersResults(signature) || answeredNames(signature, manifest.postprocess).length > 0;
}
