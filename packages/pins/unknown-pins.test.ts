/** Whatever looks like a pinned version in the repository is one that `npm run pins` knows, or is named here. */
import { join } from 'node:path';
import { findPins, isKept } from './find-pins.ts';
import type { Place, SourceFile } from './pin.ts';
import { Repository } from './repository.ts';

/** Looser than the forms of `find-pins.ts`, so that a pin in another form is seen. */
const SUSPECTS: readonly RegExp[] = [
  // pip, npm and tags: name==1.2, name@1.2.3, name:1.2.3
  /[a-z\]]\s*==\s*['"]?\d+\.\d+/gi,
  /[a-z]@v?\d+\.\d+/gi,
  /[a-z]\/[a-z-]+:v?\d+[\w.-]*/gi,
  // Digests of images, and hashes of files.
  /sha256:[0-9a-f]{64}/g,
  /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g,
  // Bases of Dockerfiles.
  /^ARG [A-Z]+=\S+/gm,
  /^FROM (?:--\S+ )?(?!--|\$|[a-z-]+( AS|$))\S+/gm,
  /_BASE[=:] *['"]?[a-z][\w./-]*:\d\S*/g,
  /image: *['"]?[a-z][\w./-]*:\d\S*/g,
  // Downloads by version.
  /https?:\/\/\S*\d+\.\d+\.\d+\S*\.(whl|tgz|tar\.\w+|zip|deb)/g,
  /[A-Z]_VERSION\s*[=:]\s*['"]?\d+\.\d+/g,
  // Workflows.
  /uses: *[\w-]+\/\S+/g,
];
/** A version in a package.json. */
const EXACT = /^ *"(?<name>(?!version"|(?:@?sagemaker-tfs))[^"]+)": "[~^>=]*\d+\.\d+\.\d+[^"]*"/gm;

/** What looks like a pin and is none. */
const NO_PINS: readonly (readonly [file: RegExp, text: RegExp, because: string])[] = [
  [/\.test\.tsx?$|\.snap$|(^|\/)(fixtures|goldens|results)\//, /./, 'a test and its data'],
  [/^(docs|bench)\/.*\.(md|json|svg)$/, /^(?!.*(docker\.io|==|uses:))/, 'outputs and measurements'],
  [/./, /^m\/(serving:1|digits:3)$/, 'an image of an account, as an example'],
  [
    /^test\/(stacks|service-models|support)\//,
    /^_BASE: 'node:24'/,
    'an argument that no build takes',
  ],
];

const repository = new Repository(join(__dirname, '..', '..'));

function suspects({ path, text }: SourceFile): { at: number; line: number; hit: string }[] {
  const patterns = /(^|\/)package\.json$/.test(path) ? [EXACT] : SUSPECTS;
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => {
      const line = text.slice(0, match.index).split('\n').length;
      return { at: match.index, line, hit: match[0].trim() };
    }),
  );
}

function unknown(files: readonly SourceFile[]): string[] {
  const places = new Map<string, Place[]>();
  for (const { places: own } of findPins(files)) {
    for (const place of own) places.set(place.file, [...(places.get(place.file) ?? []), place]);
  }
  return files
    .filter(({ path }) => !isKept(path))
    .flatMap((file) => {
      const known = places.get(file.path) ?? [];
      return suspects(file)
        .filter(({ line }) => !known.some((place) => place.line === line))
        .filter(
          ({ hit }) => !NO_PINS.some(([path, text]) => path.test(file.path) && text.test(hit)),
        )
        .map(({ line, hit }) => `${file.path}:${line} ${hit}`);
    });
}

test('every pin is known', () => {
  expect(unknown(repository.files())).toEqual([]);
});

test.each([
  ['.ci/run', 'pip install --quiet newcomer == 1.2.0'],
  ['tools/new.ts', "const CLI = 'https://example.com/cli-1.2.3.tar.gz';"],
  ['tools/new.ts', "const CLI_VERSION = '1.2.3';"],
  ['tools/new.ts', "await run('npx', ['--yes', 'newcomer@1.2.3']);"],
  ['tools/new.ts', `const HASH = '${'0a'.repeat(32)}';`],
  ['demo/Dockerfile', 'FROM debian:12.1'],
  ['demo/Dockerfile', 'ARG TOOL=1.2.3'],
  ['demo/package.json', '{\n  "peerDependencies": {\n    "newcomer": "1.2.3"\n  }\n}'],
  ['.github/workflows/new.yml', 'uses: someone/something@0123456789'],
  ['.github/workflows/new.yml', 'image: postgres:17'],
])('a pin in a form that is not known is found: %s %s', (path, text) => {
  expect(unknown([{ path, text }])).not.toEqual([]);
});
