/** Signatures by servable, asked for once for each version. */
import { isDeepStrictEqual } from 'node:util';
import type { SignatureMap, TensorMap } from '@sagemaker-tfs/tensors';
import type { ModelSelector } from '../models/servable.ts';

/** Signatures with their version, if it is known. */
export interface VersionedSignatures {
  readonly signatures: SignatureMap;
  readonly version: string | undefined;
  /** By signature: values of the inputs that requests may leave out, where it is ours to fill them in. */
  readonly defaults?: Readonly<Record<string, TensorMap>>;
}

/** Doubted signatures younger than this are kept: bad requests must not turn into questions to the model server. */
const TRUSTED_MS = 2_000;

/** Remembers what a model server said of its models. */
export class SignatureCache {
  readonly #fetch: (model: ModelSelector) => Promise<VersionedSignatures>;
  readonly #entries = new Map<string, Promise<VersionedSignatures>>();
  readonly #asked = new Map<string, number>();
  /** The last answers. An unchanged one keeps its object, so caches keyed by it stay valid. */
  readonly #last = new Map<string, VersionedSignatures>();

  constructor(fetch: (model: ModelSelector) => Promise<VersionedSignatures>) {
    this.#fetch = fetch;
  }

  /** The signatures of a servable. Failures are not remembered. */
  entry(model: ModelSelector): Promise<VersionedSignatures> {
    const key = keyOf(model);
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = this.#ask(key, model);
      this.#entries.set(key, entry);
      this.#asked.set(key, performance.now());
      entry.catch(() => this.#entries.delete(key));
    }
    return entry;
  }

  async #ask(key: string, model: ModelSelector): Promise<VersionedSignatures> {
    const fetched = await this.#fetch(model);
    const last = this.#last.get(key);
    if (last?.version !== undefined && isDeepStrictEqual(last, fetched)) return last;
    this.#last.set(key, fetched);
    return fetched;
  }

  /** Forgets the newest version's signatures once another version has answered. */
  answered(model: ModelSelector, version: string | undefined): void {
    const key = keyOf(model);
    this.#entries.get(key)?.then(
      (entry) => {
        if (version !== undefined && entry.version !== version) this.#entries.delete(key);
      },
      // Whoever asked for it gets the error.
      () => undefined,
    );
  }

  /** Asks anew for what has been known for a while, at the next request; a version's own signatures never change. */
  doubt(model: ModelSelector): void {
    const key = keyOf(model);
    const asked = this.#asked.get(key) ?? 0;
    if (model.version !== undefined || performance.now() - asked < TRUSTED_MS) return;
    this.#entries.delete(key);
  }

  /** Forgets all versions of a model. */
  forget(name: string): void {
    for (const key of this.#entries.keys()) {
      if (isKeyOf(key, name)) this.#entries.delete(key);
    }
    for (const key of this.#last.keys()) {
      if (isKeyOf(key, name)) this.#last.delete(key);
    }
  }
}

/** A text for each servable that can be asked for. */
export function keyOf({ name, version, label }: ModelSelector): string {
  if (version !== undefined) return `${name}\nversion ${version}`;
  return label === undefined ? name : `${name}\nlabel ${label}`;
}

/** Whether a key is of a model, of whatever version. */
export function isKeyOf(key: string, name: string): boolean {
  return key === name || key.startsWith(`${name}\n`);
}
