/** `serve` for programs: a model behind the serving runtime, until it is stopped. */

import { join } from 'node:path';
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import { prepareModelRoot } from './model-root.ts';
import { startRuntime } from './runtime-process.ts';

/** What to serve, and how. */
export interface ServeModelOptions {
  /** A model directory, `.tar.gz`, `.zip`, `.keras`, `.h5` or `s3://` URI. */
  readonly source: string;
  /** TypeScript or JavaScript handler. Default: the source's own. */
  readonly handler?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** How the runtime reaches the model. Default: `grpc`. */
  readonly backend?: Transport;
  /** The runtime's settings, for example `SAGEMAKER_TFS_ENABLE_BATCHING`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** File for the runtime's log, or `inherit` for this process's stderr. Default: a temporary file. */
  readonly log?: string;
  /** Ends the start. */
  readonly signal?: AbortSignal;
}

/** A model that answers. */
export interface ServedModel {
  /** For example `http://127.0.0.1:8080`, with `/ping` and `/invocations`. */
  readonly url: string;
  /** Ends the runtime and removes what was laid out for it. */
  stop(): Promise<void>;
}

/**
 * Lays a model out as SageMaker does and starts the runtime over it.
 * @throws PackagingError if the source cannot be served, CommandError if the runtime does not start
 */
export async function serveModel(options: ServeModelOptions): Promise<ServedModel> {
  const { source, handler, port, backend, environment, signal } = options;
  const root = await prepareModelRoot(source, handler, { signal });
  try {
    const runtime = await startRuntime({
      modelDirectory: root.directory,
      source,
      environment: { ...(backend && { SAGEMAKER_TFS_BACKEND: backend }), ...environment },
      log: options.log ?? join(root.directory, '..', 'runtime.log'),
      ...(port !== undefined && { port }),
      ...(signal && { signal }),
    });
    return { url: runtime.url, stop: () => runtime.stop().finally(root.cleanUp) };
  } catch (error) {
    await root.cleanUp();
    throw error;
  }
}
