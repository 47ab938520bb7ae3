/** One of the calls of the model that a request makes. */

/** Options of `Context.predict`. */
export interface PredictOptions {
  /** Outputs wanted; the others never leave the model server. A name twice counts once. Default: `tfs-outputs`, else all. */
  readonly outputs?: readonly string[];
  /** Another model. Default: the request's. */
  readonly model?: string;
  /** Default: the request's version, or the newest of another model. */
  readonly version?: string;
  /** Default: the request's signature, or `serving_default` of another model. */
  readonly signature?: string;
}
