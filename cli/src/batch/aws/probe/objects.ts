/** The twelve objects of a probe. Each asks one question. */
import { formatManifest } from '@sagemaker-tfs/batch';

/** What an object of a probe is for. */
export type ProbeKind = 'plain' | 'awkward' | 'empty' | 'large' | 'bad' | 'deleted';

/** An object. */
export interface ProbeObject {
  readonly kind: ProbeKind;
  /** Key below the probe's inputs. */
  readonly key: string;
  /** Undefined for the one that the manifest names and that is not there. */
  readonly body?: Uint8Array;
}

/** What the objects are made of. */
export interface ProbeSamples {
  /** An input that the model answers. */
  readonly good: Uint8Array;
  /** One that it refuses. */
  readonly bad: Uint8Array;
  /** End of the names, such as `.jpg`. */
  readonly suffix: string;
  readonly maxPayloadInMB: number;
}

const PLAIN = ['first', 'nested/second', 'nested/deeper/third'];
/** One kind of character each; the last mixes them. */
const AWKWARD = ['a space', 'a+plus', 'a%20percent', 'ü-東京', 'é +%2B'];

/** Makes the objects. A large one is the good one and spaces behind it, which JSON and pictures allow. */
export function probeObjects({ good, bad, suffix, maxPayloadInMB }: ProbeSamples): ProbeObject[] {
  const large = Buffer.alloc(maxPayloadInMB * 1024 ** 2 + 1 + good.length, ' ');
  large.set(good);
  const named = (kind: ProbeKind, name: string, body?: Uint8Array) => ({
    kind,
    key: name + suffix,
    ...(body && { body }),
  });
  return [
    ...PLAIN.map((name) => named('plain', name, good)),
    ...AWKWARD.map((name) => named('awkward', name, good)),
    named('empty', 'empty', new Uint8Array()),
    named('large', 'large', large),
    named('bad', 'bad', bad),
    named('deleted', 'deleted'),
  ];
}

/** A manifest with spaces before its end, so that it has a number of bytes. */
export function paddedManifest(prefix: string, keys: readonly string[], bytes: number): Buffer {
  const text = formatManifest(prefix, keys);
  const end = text.lastIndexOf(']');
  const missing = Math.max(0, bytes - Buffer.byteLength(text));
  return Buffer.from(text.slice(0, end) + ' '.repeat(missing) + text.slice(end));
}
