/** Which pins can move, to what, and why the others stay. */
import type { Pin } from './pin.ts';
import type { Available, Registries, Wheel } from './registries.ts';
import { compareVersions, newestOf, sameMajor } from './versions.ts';

/** What is asked for. */
export interface Wanted {
  /** Names that may move; all if it is empty. */
  readonly names: ReadonlySet<string>;
  /** Names that may move to another major version. */
  readonly majors: ReadonlySet<string>;
  /** Releases of TensorFlow Serving, such as `2.20`, whose facts `container/image/tensorflow-serving.json` has. */
  readonly servingReleases: ReadonlySet<string>;
}

/** One pin, looked up. */
export interface Row {
  readonly pin: Pin;
  /** The newest that is published. */
  readonly newest?: string;
  /** Where it moves. */
  readonly target?: string;
  /** Why it stays behind the newest. */
  readonly note?: string;
  /** The registry did not answer: the reason. */
  readonly unreachable?: string;
  readonly wheels?: ReadonlyMap<string, readonly Wheel[]>;
}

/** Packages that have one version each release. */
const FAMILIES: readonly (readonly string[])[] = [
  ['tensorflow', 'tensorflow-cpu'],
  ['grpcio', 'grpcio-tools'],
  ['@bufbuild/protobuf', '@bufbuild/protoc-gen-es'],
];
const AT_ONCE = 8;
/** NVIDIA's libraries: in the oldest releases that TensorFlow asks for. */
const OF_NVIDIA = /^nvidia-.*-cu\d+$/;

/** Looks all pins up. A registry that does not answer costs only its own rows. */
export async function plan(
  pins: readonly Pin[],
  wanted: Wanted,
  registries: Registries,
): Promise<Row[]> {
  const rows = await inTurns(pins, (pin) => look(pin, wanted, registries));
  return withNvidia(inFamilies(rows), registries);
}

async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(work))));
  }
  return results;
}

async function look(pin: Pin, wanted: Wanted, registries: Registries): Promise<Row> {
  try {
    const available = await lookUp(pin, registries);
    const newest = newestOf(available.versions);
    const { wheels } = available;
    return {
      pin,
      ...(newest && { newest }),
      ...(wheels && { wheels }),
      ...choose(pin, available, wanted),
    };
  } catch (error) {
    return { pin, unreachable: reasonOf(error) };
  }
}

function lookUp({ kind, name, places }: Pin, registries: Registries): Promise<Available> {
  if (kind !== 'image') return registries[kind](name);
  const tags = places.flatMap(({ role }) => (role.is === 'digest' ? [role.tag] : []));
  return registries.image(name, tags[0] ?? '');
}

/** The message, with the cause that `fetch` hides behind it. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const text = cause instanceof Error ? cause.message : message;
  return (text.split('\n').filter(Boolean).at(-1) ?? message).trim();
}

type Choice = Pick<Row, 'target' | 'note'>;

function choose(pin: Pin, available: Available, wanted: Wanted): Choice {
  const { name, version } = pin;
  if (wanted.names.size > 0 && !wanted.names.has(name)) return {};
  if (OF_NVIDIA.test(name)) return { note: 'moves with TensorFlow' };
  const later = (list: readonly string[]) =>
    list.filter(
      (other) => /^\d/.test(other) && newestOf([version, other]) === other && other !== version,
    );
  const newer = later(available.versions);
  const usable = later(available.usable);
  const major = usable.filter((other) => wanted.majors.has(name) || isCompatible(pin, other));
  const known = major.filter((other) => whyNot(pin, other, available, wanted) === undefined);
  const target = newestOf(known);
  if (target !== undefined) return { target };
  if (newestOf(newer) === undefined) return {};
  if (newestOf(usable) === undefined) return { note: 'newer ones need a newer Node or Python' };
  const best = newestOf(major);
  if (best === undefined) return { note: `another major version: --major ${name}` };
  const note = whyNot(pin, best, available, wanted);
  return note === undefined ? {} : { note };
}

/** A tag of one or two numbers moves by itself: what it points at is its digest. */
function isCompatible({ kind, version }: Pin, other: string): boolean {
  const floats = kind === 'action' || (kind === 'image' && version.split('.').length < 3);
  return !floats && sameMajor(version, other);
}

/** What keeps a version from being taken; undefined if nothing does. */
function whyNot(
  pin: Pin,
  version: string,
  { wheels }: Available,
  wanted: Wanted,
): string | undefined {
  const parts = (text: string) => text.split('.').length;
  if (pin.kind === 'image' && parts(version) !== parts(pin.version)) return 'no such tag';
  if (pin.name === 'docker.io/tensorflow/serving') {
    const release = version.split('.').slice(0, 2).join('.');
    if (!wanted.servingReleases.has(release)) {
      return `write the facts of ${release} into container/image/tensorflow-serving.json first`;
    }
  }
  const hashes = pin.places.flatMap(({ role }) => (role.is === 'hash' ? [role.hash] : []));
  const missing = hashes.find(
    (hash) => wheelLike(wheels, pin.version, hash, version) === undefined,
  );
  return missing && `${version} has no wheel for one of the platforms`;
}

/** The wheel of `version` for the same Python and machine as the wheel that has `hash` in the version before. */
export function wheelLike(
  wheels: Available['wheels'],
  before: string,
  hash: string,
  version: string,
): Wheel | undefined {
  const old = wheels?.get(before)?.find(({ sha256 }) => sha256 === hash);
  if (!old) return undefined;
  return wheels
    ?.get(version)
    ?.find(({ filename }) => machineOf(filename) === machineOf(old.filename));
}

/** The newest C library that `pip` is asked for in `container/Dockerfile`. */
const GLIBC = '2.27';
/** `manylinux_2_27_x86_64`, or by its older name `manylinux2014_x86_64`. */
const MANYLINUX = /manylinux(?:_(?<glibc>\d+_\d+)|1|2010|2014)_(?<machine>\w+?)(?=\.|$)/;

/**
 * `cp311-cp311-linux x86_64` of `name-1.0-cp311-cp311-manylinux_2_27_x86_64.whl`: the next release may need another C library.
 * Undefined if it needs one that is too new.
 */
function machineOf(filename: string): string | undefined {
  const [, , python, abi, platform = ''] = filename.replace(/\.whl$/, '').split('-');
  const { glibc = '2_17', machine } = MANYLINUX.exec(platform)?.groups ?? {};
  if (machine === undefined) return [python, abi, platform].join('-');
  if (compareVersions(glibc.replace('_', '.'), GLIBC) > 0) return undefined;
  return `${python}-${abi}-linux ${machine}`;
}

/** Members of a family move together, to what all of them have. */
function inFamilies(rows: readonly Row[]): Row[] {
  return rows.map((row) => {
    const family = FAMILIES.find((names) => names.includes(row.pin.name));
    if (!family || row.target === undefined) return row;
    const members = rows.filter(({ pin }) => family.includes(pin.name));
    const targets = members.map(({ pin, target }) => target ?? pin.version);
    const [oldest = row.target] = targets.sort(compareVersions);
    if (oldest === row.target) return row;
    const { target: _, ...stays } = row;
    const note = `${family.join(' and ')} move together`;
    return compareVersions(oldest, row.pin.version) > 0
      ? { ...row, target: oldest }
      : { ...stays, note };
  });
}

/** With TensorFlow move NVIDIA's libraries, to the oldest that the new one takes. */
async function withNvidia(rows: readonly Row[], registries: Registries): Promise<Row[]> {
  const tensorflow = rows.find(({ pin }) => pin.name === 'tensorflow');
  if (tensorflow?.target === undefined) return [...rows];
  const asked = await registries.requirements('tensorflow', tensorflow.target);
  return rows.map((row) => {
    const { name, version } = row.pin;
    if (!OF_NVIDIA.test(name)) return row;
    const requirement = asked.find((text) => /^[\w.-]+/.exec(text)?.[0] === name);
    const oldest = /[>=]=\s*([\d.]+)/.exec(requirement ?? '')?.[1];
    const { note: _, ...rest } = row;
    if (oldest === undefined)
      return {
        ...rest,
        note: 'the new TensorFlow does not name it: look at container/image/tensorflow-gpu.txt',
      };
    return oldest === version ? rest : { ...rest, target: oldest };
  });
}
