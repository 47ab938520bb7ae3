/** What tells the answers of one run of `batch worker` from those of another. */
import { originOf } from './origin.ts';

/** Settings of a worker that decide its answers. */
export interface DecisiveWorkerSettings {
  readonly contentType: string;
  readonly accept?: string | undefined;
  readonly customAttributes?: string;
  readonly keySuffix?: string | undefined;
  /** Framing of the inputs, which are packed; undefined if they are asked about. */
  readonly pack?: string | undefined;
}

/**
 * The fingerprint of a run, as its plan has it.
 * @param inputs their prefix, and the digest of the list that names them; undefined for a prefix that is listed
 * @param model changes with the model
 */
export function workerFingerprint(
  { prefix, digest }: { readonly prefix: string; readonly digest: string | undefined },
  settings: DecisiveWorkerSettings,
  model: string,
): string {
  const { contentType, accept = '', customAttributes = '', keySuffix = '', pack } = settings;
  return originOf(model, prefix, {
    contentType,
    accept,
    environment: {
      customAttributes,
      keySuffix,
      ...(digest !== undefined && { digest }),
      ...(pack && { pack }),
    },
  }).fingerprint;
}
