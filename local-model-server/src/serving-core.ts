/** What the gRPC and the REST services have in common. */
import type { ModelManager } from './model-manager.ts';

/** Handed to every service. */
export interface ServingCore {
  readonly models: ModelManager;
  /** `--enable_signature_method_name_check`. */
  readonly checkMethodName: boolean;
  /** `--enable_serialization_as_tensor_content`. */
  readonly tensorContent: boolean;
}
