/** What a verification found: plain data, as `--json` prints it. */

/** A verified archive. */
export interface VerifyReport {
  readonly archive: string;
  /** SHA-256 (hex) of model and handler; absent if the archive has no manifest. */
  readonly fingerprint?: string;
  readonly versions: readonly VersionVerification[];
  /** Requests through the runtime and the handler; empty if none was given a chance. */
  readonly requests: readonly RequestVerification[];
}

/** One version, loaded and run with TensorFlow. */
export interface VersionVerification {
  readonly model: string;
  readonly version: string;
  /** Milliseconds until the model was restored. */
  readonly loadMs: number;
  readonly signatures: readonly SignatureVerification[];
}

/** One signature. */
export interface SignatureVerification {
  readonly signature: string;
  /** `synthetic`, or the sample's path. */
  readonly sample: string;
  /** Milliseconds of the first run and of the median of the others; undefined if it was not run. */
  readonly firstMs?: number;
  readonly medianMs?: number;
  readonly outputs: Readonly<Record<string, { dtype: string; shape: readonly number[] }>>;
  /** Why it was not run, or what to know; empty if all is well. */
  readonly note: string;
}

/** One request through the runtime and the handler. */
export interface RequestVerification {
  readonly sample: string;
  readonly contentType: string;
  readonly status: number;
  readonly responseType: string;
  readonly responseBytes: number;
  /** The first 200 characters of a text; empty for other answers. */
  readonly preview: string;
  readonly latencyMs: number;
  /** What to know; empty if all is well. */
  readonly note: string;
}
