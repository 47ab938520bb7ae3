/** The backend that speaks TensorFlow Serving's REST API. */

import { type AbortSignalLike, DEFAULT_SIGNATURE, type SignatureMap } from '@sagemaker-tfs/tensors';
import type { ExampleLimits } from '../codecs/tf-example.ts';
import { ServingError } from '../errors.ts';
import type { InstancePool, PoolWork } from '../model-server/instance-pool.ts';
import { requireSignature } from '../models/choose-signature.ts';
import type { ModelSelector, ModelVersionStatus } from '../models/servable.ts';
import { HttpClient, type HttpReply } from '../transport/http/http-client.ts';
import type {
  Backend,
  BackendReply,
  BackendRequest,
  ExamplesReply,
  ExamplesRequest,
  RelayReply,
  RelayRequest,
} from './backend.ts';
import { examplesRequestBody } from './rest/examples-json.ts';
import { readResults } from './rest/examples-thread.ts';
import { fitsJson, predictRequestBody, rowsRequestBody } from './rest/predict-json.ts';
import { readReply } from './rest/reply-thread.ts';
import { utf8Reply } from './rest/utf8-reply.ts';
import { SignatureCache } from './signature-cache.ts';
import { modelError } from './status.ts';

/** Settings of the backend. */
interface RestBackendOptions {
  /** The model server's own time limit for a call. */
  readonly timeoutMs: number;
  readonly maxReplyBytes: number;
  /** Of all outputs of an answer together. */
  readonly maxStrings: number;
  /** What a tf.Example for classify or regress may hold. */
  readonly exampleLimits: ExampleLimits;
  /**
   * The backend for what REST has no form for (empty tensors whose lists do not tell their shape, empty lists in
   * examples), and for what would be text of many times its size.
   */
  readonly overGrpc: () => Promise<Required<Pick<Backend, 'predict' | 'examples'>>>;
}

/** Predicts over REST on the instances of a pool, which stays the caller's to close. */
export class RestBackend implements Backend {
  readonly transport = 'rest';
  readonly #pool: InstancePool;
  readonly #timeoutMs: number;
  readonly #client: HttpClient;
  readonly #exampleLimits: ExampleLimits;
  readonly #maxStrings: number;
  readonly #overGrpc: RestBackendOptions['overGrpc'];
  readonly #signatures: SignatureCache;

  constructor(pool: InstancePool, options: RestBackendOptions) {
    this.#exampleLimits = options.exampleLimits;
    this.#maxStrings = options.maxStrings;
    this.#overGrpc = options.overGrpc;
    this.#pool = pool;
    this.#timeoutMs = options.timeoutMs;
    this.#client = new HttpClient(options);
    this.#signatures = new SignatureCache(async (model) => {
      const text = (await this.#get(model, '/metadata')).toString('utf8');
      return (await schemas()).parseMetadata(text);
    });
  }

  async predict(request: BackendRequest): Promise<BackendReply> {
    const { model, inputs, outputs, signal, batch } = request;
    const { signatures, version, defaults } = await this.#signatures.entry(model);
    const key = request.signature || DEFAULT_SIGNATURE;
    const signature = requireSignature(signatures, key, model.name);
    const all = { ...defaults?.[key], ...inputs };
    if (!fitsJson(all)) return (await this.#overGrpc()).predict(request);
    const body = await predictRequestBody(key, all);
    const reply = await this.#post(model, 'predict', body, { signal, batch });
    const read = await readReply(
      reply,
      { signature, outputs, maxStrings: this.#maxStrings },
      signal,
    );
    return read ? { outputs: read, version } : (await this.#overGrpc()).predict(request);
  }

  async examples(request: ExamplesRequest): Promise<ExamplesReply> {
    const { model, method } = request;
    const body = await examplesRequestBody(request, this.#exampleLimits);
    if (!body) return (await this.#overGrpc()).examples(request);
    const { version } = await this.#signatures.entry(model);
    const reply = await this.#post(model, method, body, request);
    return {
      ...(await readResults(reply, method, request.signal)),
      ...(version === undefined ? {} : { version }),
    };
  }

  /**
   * Undefined for rows of several inputs, which TensorFlow Serving wants as an object each, where inputs with a
   * default are left out, which its REST API asks for, and for empty inputs whose lists do not tell their shape.
   */
  async relay(request: RelayRequest): Promise<(() => Promise<RelayReply | undefined>) | undefined> {
    const { model, signal } = request;
    const body = await relayedBody(request);
    if (!body) return undefined;
    return async () => {
      const [{ version }, reply] = await Promise.all([
        this.#signatures.entry(model),
        this.#post(model, 'predict', body, { signal }).catch(undefinedIfBeyondJson),
      ]);
      if (!reply) return undefined;
      return { body: utf8Reply(reply, request.signature), version };
    };
  }

  async signatures(model: ModelSelector): Promise<SignatureMap> {
    return (await this.#signatures.entry(model)).signatures;
  }

  async status(model: ModelSelector): Promise<readonly ModelVersionStatus[]> {
    const text = (await this.#get(model, '')).toString('utf8');
    return (await schemas()).parseStatus(text);
  }

  doubt(model: ModelSelector): void {
    this.#signatures.doubt(model);
  }

  /** Forgets the signatures of a model that was loaded anew. */
  forget(modelName: string): void {
    this.#signatures.forget(modelName);
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  #get(model: ModelSelector, suffix: string): Promise<Buffer> {
    return this.#call({ method: 'GET', path: `${modelPath(model)}${suffix}` });
  }

  #post(
    model: ModelSelector,
    method: 'predict' | 'classify' | 'regress',
    body: readonly Uint8Array[],
    { signal, batch }: Pick<BackendRequest, 'signal' | 'batch'>,
  ): Promise<Buffer> {
    const path = `${modelPath(model)}:${method}`;
    return this.#call({ method: 'POST', path, body, signal, batch });
  }

  #call({ batch, ...call }: RestCall): Promise<Buffer> {
    const work: PoolWork<Buffer> = async ({ endpoint }, onAbandoned) => {
      const { host, restPort: port } = endpoint;
      const reply = await this.#client.call({ ...call, host, port, onAbandoned });
      if (reply.status === 200) return reply.body;
      throw modelError(errorText(reply), reply.status, { timeoutMs: this.#timeoutMs });
    };
    return this.#pool.use(work, { signal: call.signal, batch });
  }
}

interface RestCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignalLike | undefined;
  readonly batch?: BackendRequest['batch'];
}

async function relayedBody({
  signature: { key, inputs: specs },
  inputs,
  form,
}: RelayRequest): Promise<Uint8Array[] | undefined> {
  if (Object.keys(specs).some((name) => !Object.hasOwn(inputs, name))) return undefined;
  if (!fitsJson(inputs)) return undefined;
  if (form === 'columnar') return predictRequestBody(key, inputs);
  const [only] = Object.entries(inputs);
  if (!only || only[1].shape.length === 0 || Object.keys(specs).length !== 1) return undefined;
  return rowsRequestBody(key, only[1]);
}

/**
 * TensorFlow Serving refuses over REST what is answered over gRPC: the row format where the outputs have no common
 * first dimension. @throws all other errors
 */
function undefinedIfBeyondJson(error: unknown): undefined {
  const isBeyond =
    error instanceof ServingError && error.status === 400 && BEYOND_JSON.test(error.message);
  if (!isBeyond) throw error;
}

const BEYOND_JSON = /has inconsistent batch size|has no shape information/;

/** Not before it is called: the schemas' library takes long to load, and the requests themselves need none. */
function schemas() {
  return import('./rest/metadata.ts');
}

function modelPath({ name, version, label }: ModelSelector): string {
  const path = `/v1/models/${encodeURIComponent(name)}`;
  if (version !== undefined) return `${path}/versions/${version}`;
  return label === undefined ? path : `${path}/labels/${encodeURIComponent(label)}`;
}

/** TensorFlow Serving writes `{"error": "..."}`. */
function errorText({ status, body }: HttpReply): string {
  const text = body.toString('utf8');
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return error;
  } catch {
    // Not JSON: the text itself is the message.
  }
  return text || `the model server answered HTTP ${status}`;
}
