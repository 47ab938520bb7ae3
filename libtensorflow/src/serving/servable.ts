/** One loaded version of a model. */
import { create, toBinary } from '@bufbuild/protobuf';
import { decodeTensorProto, type TensorMap } from '@sagemaker-tfs/tensors';
import {
  type ModelSpec,
  ModelSpecSchema,
  type SignatureDef,
  TensorProtoSchema,
} from '@sagemaker-tfs/tensors/protos';
import type { Session } from './session.ts';

/** Name and version, as TensorFlow Serving prints them: `{name: half_plus_two version: 1}`. */
export function servableId(name: string, version: bigint): string {
  return `{name: ${name} version: ${version}}`;
}

/** The spec in a response: which model and version answered, by which signature. */
export function answeredSpec(servable: Servable, signatureName: string): ModelSpec {
  return create(ModelSpecSchema, {
    name: servable.name,
    versionChoice: { case: 'version', value: { value: servable.version } },
    signatureName,
  });
}

/** A loaded version and the requests running on it; its session closes once the last of them is done. */
export class Servable {
  readonly name: string;
  readonly version: bigint;
  /** Another for another directory, and for another copy in the same place. */
  readonly origin: string;
  readonly session: Session;
  /** Every entry of the MetaGraphDef's signature_def, for GetModelMetadata. */
  readonly signatureDefs: Readonly<Record<string, SignatureDef>>;
  readonly #defaults = new Map<string, TensorMap>();
  #inFlight = 0;
  #drained: (() => void) | undefined;

  constructor(
    name: string,
    version: bigint,
    origin: string,
    session: Session,
    signatureDefs: Readonly<Record<string, SignatureDef>>,
  ) {
    this.name = name;
    this.version = version;
    this.origin = origin;
    this.session = session;
    this.signatureDefs = signatureDefs;
  }

  /** Values of a signature's inputs that requests may leave out (SignatureDef.defaults). */
  defaultInputs(signature: string): TensorMap {
    const known = this.#defaults.get(signature);
    if (known) return known;
    const defaults = Object.entries(this.signatureDefs[signature]?.defaults ?? {}).map(
      ([name, proto]) => [name, decodeTensorProto(toBinary(TensorProtoSchema, proto))],
    );
    const tensors: TensorMap = Object.fromEntries(defaults);
    this.#defaults.set(signature, tensors);
    return tensors;
  }

  /** Runs `work` with the session kept open until it is done. */
  async use<T>(work: (servable: Servable) => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    try {
      return await work(this);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#drained?.();
    }
  }

  /** Waits for the requests in flight, then closes the session. */
  async unload(): Promise<void> {
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    await this.session.close();
  }
}
