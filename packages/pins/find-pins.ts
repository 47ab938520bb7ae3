/** Finds every pin in the files of the repository. What pins in a form that is not here, `pins.test.ts` finds. */
import { satisfies, validRange } from 'semver';
import type { Pin, PinKind, Place, SourceFile } from './pin.ts';

interface Found {
  readonly kind: PinKind;
  readonly name: string;
  readonly version: string;
  readonly place: Place;
}

/** A form in which versions are written. Groups: `name`, and `version` with the indices of the match. */
interface Form {
  readonly files: RegExp;
  readonly pattern: RegExp;
  found(groups: Record<string, string | undefined>): readonly FoundPart[];
}

type FoundPart = Pick<Found, 'kind' | 'name' | 'version'> & {
  /** The group that is replaced. */
  readonly group: string;
  readonly role: Place['role'];
};

const VERSION = { is: 'version' } as const;

/** Files whose versions are history or examples, so they stay. */
const KEPT: readonly (readonly [file: RegExp, because: string])[] = [
  [/^CHANGELOG\.md$/, 'what has been done'],
  [/^docs\/real-server\.md$/, 'which release was run, and when'],
  [/^docs\/migrating-from-the-python-container\.md$/, 'which releases were compared'],
  [/^packages\/pins\//, 'examples'],
  [/(^|\/)package-lock\.json$/, 'npm writes it'],
];

const NUMBERS = '\\d+(?:\\.\\d+)+';

const FORMS: readonly Form[] = [
  {
    // `name==1.2`, with a hash or without, in lists for pip and in commands.
    files: /./,
    pattern: new RegExp(
      `(?<![\\w.-])(?<name>[A-Za-z][\\w.-]*)(?:\\[[\\w,-]+\\])?==(?<version>${NUMBERS})(?: --hash=sha256:(?<hash>[0-9a-f]{64}))?`,
      'dg',
    ),
    found: ({ name = '', version = '', hash }) => {
      const pin = { kind: 'pypi', name: pypiName(name), version } as const;
      const place = { ...pin, group: 'version', role: VERSION };
      return hash ? [place, { ...pin, group: 'hash', role: { is: 'hash', hash } }] : [place];
    },
  },
  {
    // 'name@1.2.3' in programs that install packages.
    files: /^(test|bench|packages|\.ci)\/.*(?<!\.test)\.(ts|mjs)$|^\.ci\/run$/,
    pattern: /['\s](?<name>(?:@[a-z0-9-]+\/)?[a-z][a-z0-9-]*)@(?<version>\d+\.\d+\.\d+)\b/dg,
    found: ({ name = '', version = '' }) => [
      { kind: 'npm', name, version, group: 'version', role: VERSION },
    ],
  },
  {
    // Base images of Dockerfiles: these alone have digests.
    files: /(^|\/)Dockerfile$/,
    pattern:
      /^ARG [A-Z]+_BASE=(?<name>(?:[^\s:@/]+(?::\d+)?\/)?[^\s:@]+):(?<version>\d+(?:\.\d+)*)(?<suffix>[\w.-]*)(?<digest>(?:@sha256:[0-9a-f]{64})?)$/dgm,
    found: ({ name = '', version = '', suffix = '', digest }) => {
      const pin = { kind: 'image', name, version } as const;
      const role = {
        is: 'digest',
        tag: `${version}${suffix}`,
        ...(digest && { digest: digest.slice(1) }),
      } as const;
      return [
        { ...pin, group: 'version', role: VERSION },
        { ...pin, group: 'digest', role },
      ];
    },
  },
  {
    // TensorFlow's own images, wherever they are named.
    files: /(?<!\.test\.ts|\.snap)$/,
    pattern:
      /(?<!ARG [A-Z]+_BASE=|[\w.]\/)(?:docker\.io\/)?(?<name>tensorflow\/(?:serving|tensorflow)):(?<version>\d+\.\d+\.\d+)\b/dg,
    found: ({ name = '', version = '' }) => [
      { kind: 'image', name: `docker.io/${name}`, version, group: 'version', role: VERSION },
    ],
  },
  {
    files: /^container\/image\/tensorflow-serving\.json$/,
    pattern: /"default": "(?<version>\d+\.\d+\.\d+)"/dg,
    found: ({ version = '' }) => [
      {
        kind: 'image',
        name: 'docker.io/tensorflow/serving',
        version,
        group: 'version',
        role: VERSION,
      },
    ],
  },
  {
    files: /^libtensorflow\/src\/fetch\/pinned-wheel\.ts$/,
    pattern: new RegExp(`PINNED_VERSION = '(?<version>${NUMBERS})'`, 'dg'),
    found: ({ version = '' }) => [
      { kind: 'pypi', name: 'tensorflow', version, group: 'version', role: VERSION },
    ],
  },
  {
    files: /^libtensorflow\/src\/fetch\/pinned-wheel\.ts$/,
    pattern: /sha256: '(?<hash>[0-9a-f]{64})'/dg,
    found: () => [
      { kind: 'pypi', name: 'tensorflow', version: '', group: 'hash', role: { is: 'derived' } },
    ],
  },
  {
    // GitHub's actions: their tags of one number move by themselves.
    files: /^\.github\/workflows\/|\.(md|ts|yml)$/,
    pattern: /^\s*- uses: (?<name>[\w-]+\/[\w-]+)@v(?<version>\d+(?:\.\d+)*)$/dgm,
    found: ({ name = '', version = '' }) => [
      { kind: 'action', name, version, group: 'version', role: VERSION },
    ],
  },
];

/** Whether the versions in this file stay. */
export const isKept = (path: string): boolean => KEPT.some(([file]) => file.test(path));

/** Every pin, by kind and name. @throws Error if a name is pinned to two versions */
export function findPins(files: readonly SourceFile[]): Pin[] {
  const found = files
    .filter(({ path }) => !isKept(path))
    .flatMap((file) => [...ofManifest(file), ...FORMS.flatMap((form) => ofForm(form, file))]);
  const pins = new Map<string, Pin & { places: Place[] }>();
  for (const { kind, name, version, place } of found) {
    const key = `${kind} ${name}`;
    const known = pins.get(key);
    if (!known) pins.set(key, { kind, name, version, places: [place] });
    else {
      requireOneVersion(known, version, place);
      known.places.push(place);
    }
  }
  return [...pins.values()].sort(
    (a, b) => compareText(a.kind, b.kind) || compareText(a.name, b.name),
  );
}

function requireOneVersion(pin: Pin, version: string, place: Place): void {
  if (version === '' || version === pin.version) return;
  const [first] = pin.places;
  throw new Error(
    `${pin.name} is ${pin.version} in ${first?.file}:${first?.line} and ${version} in ${place.file}:${place.line}. ` +
      'Write one version in both.',
  );
}

const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));

function ofForm({ files, pattern, found }: Form, { path, text }: SourceFile): Found[] {
  if (!files.test(path)) return [];
  return [...text.matchAll(pattern)].flatMap((match) =>
    found(match.groups ?? {}).map(({ group, role, ...pin }) => {
      const [start, end] = match.indices?.groups?.[group] ?? [0, 0];
      return { ...pin, place: { file: path, start, end, role, line: lineOf(text, start) } };
    }),
  );
}

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length;

/** Exact versions of a package.json. Ranges are no pins: they say what users may bring. */
function ofManifest({ path, text }: SourceFile): Found[] {
  if (!/(^|\/)package\.json$/.test(path)) return [];
  const manifest = JSON.parse(text) as Record<string, unknown>;
  const found: Found[] = [];
  for (const field of ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides']) {
    for (const [name, version] of Object.entries((manifest[field] ?? {}) as object)) {
      if (name.includes('sagemaker-tfs') || !isExact(version)) continue;
      const start = text.indexOf(`"${name}": "${version}"`, text.indexOf(`"${field}"`));
      const at = start + name.length + 5;
      const place: Place = {
        file: path,
        start: at,
        end: at + version.length,
        role: VERSION,
        line: lineOf(text, at),
      };
      found.push({ kind: 'npm', name, version, place });
    }
  }
  return found;
}

function isExact(version: unknown): version is string {
  return (
    typeof version === 'string' && validRange(version) === version && satisfies(version, version)
  );
}

/** PyPI takes any case, and one sign for `-`, `_` and `.`. */
function pypiName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
