/** A model as a call names it, and the states of its versions. */

/** Which servable a call means. Neither `version` nor `label`: the newest available version. */
export interface ModelSelector {
  readonly name: string;
  /** Decimal digits; versions are int64 and may exceed 2^53. */
  readonly version?: string;
  readonly label?: string;
}

/** TensorFlow Serving's states of a version (model_service.proto). */
export type ModelVersionState = 'START' | 'LOADING' | 'AVAILABLE' | 'UNLOADING' | 'END' | 'UNKNOWN';

/** State of one version of a model. */
export interface ModelVersionStatus {
  readonly version: string;
  readonly state: ModelVersionState;
  /** TensorFlow's message where loading failed, else empty. */
  readonly errorMessage: string;
}
