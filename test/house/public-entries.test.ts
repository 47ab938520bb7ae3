/** What lies outside of a room takes its public entries, as a user would. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOMS } from './rooms.ts';
import { imports } from './source-imports.ts';
import { ROOT, trackedFiles } from './tracked-files.ts';

const OUTSIDE = ['bench', 'conformance', 'demo', 'docs', 'examples', 'playground/test', 'test'];
/** Files of a room's inside; `lib` has no `src`, its entries are `index.ts` and `config.ts`. */
const INSIDE = /^([a-z-]+\/src|lib)\/(?!index\.ts$|config\.ts$)/;

/** Files and folders that reach into a room, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'bench/canned/http2-server.ts':
    "answers with the runtime's own HTTP/2 frames, to cost as little as it",
  'bench/codecs.ts': 'measures decoders by themselves',
  'bench/lib/decode-alone.ts': 'measures the decoding of pictures by itself',
  'bench/large-bodies.ts': 'measures decoders by themselves',
  'bench/lib/large-bodies.ts': "makes bodies with the runtime's own writers",
  'bench/resizing.ts': 'measures the resizing of pictures by itself',
  'bench/lib/kept-connection.ts':
    "sends load with the runtime's own HTTP client, the cheapest here",
  'bench/lib/model-server-clients.ts':
    "measures the runtime's clients against node:http2, grpc-js and undici",
  'conformance/sections/documents.ts': "compares the look-alike's reader of JSON with an oracle",
  'conformance/sections/images.ts': 'compares decoding and resizing with Python',
  'conformance/sections/tables.ts': 'compares the codec of Parquet with pyarrow',
  'docs/aws-rules.ts': 'documents the table of rules',
  'docs/errors.ts': 'documents the catalogue of the constructs',
  'docs/regions.ts': 'documents the tables of regions',
  'docs/run.test.ts': 'waits for `serve` as the tests of the command do',
  'test/axe/axe.test.ts': 'asks the stub of the batch tests',
  'test/fuzz/': 'tries each parser by itself, and the runtime as a whole',
  'test/image/wheel.test.ts': 'compares the pinned wheel with the Dockerfile',
  'test/installed/aws.ts': 'takes the stand-ins of the tests of the command',
  'test/installed/aws-account.ts': 'takes a stand-in of the tests of the command',
  'test/load/load.test.ts': "starts the runtime as the container's tests do",
  'test/stacks/drift.test.ts': 'the function, called without Lambda',
  'test/stacks/batch-machine.ts': "runs the state machine with the function's handler",
  'test/stacks/batch-run.test.ts': "types of the function's answers",
  'test/stacks/batch-transform.test.ts': "compares the template with the function's requests",
  'test/stacks/batch-worker.test.ts': 'reads the job with the options of the image',
  'test/stacks/model.test.ts': 'compares the hash of sources with the asset',
};

const files = trackedFiles(...OUTSIDE).filter(
  (file) => /\.(ts|tsx|mjs)$/.test(file) && !file.includes('/fixtures/'),
);

/** Imports that reach inside, at most: lower it as they become fewer. */
const MAX_IMPORTS = 86;

function importsInside(file: string): number {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/\b(?:from|import)\s*\(?'(\.[^'\n]+)'/g)].filter(([, to = '']) =>
    INSIDE.test(normalize(join(dirname(file), to))),
  ).length;
}

test('rooms take the public entries of other rooms', () => {
  const across = imports.flatMap(({ from, to }) => {
    const target = to.startsWith('.') ? normalize(join(dirname(from), to)) : '';
    const [own, other] = [from, target].map((path) => path.split('/', 1)[0]);
    return target === '' || own === other ? [] : [{ from, target }];
  });
  expect(across.length).toBeGreaterThan(0);
  const isRoom = (path: string) => ROOMS.includes(path.split('/', 1)[0] ?? '');
  const refused = across.filter(({ from, target }) => isRoom(from) && INSIDE.test(target));
  expect(refused).toEqual([]);
});

test('benchmarks, demo, docs and tests reach into no room without a reason', () => {
  expect(files.length).toBeGreaterThan(200);
  const reaching = files.filter((file) => importsInside(file) > 0);
  expect(reaching.reduce((sum, file) => sum + importsInside(file), 0)).toBeLessThanOrEqual(
    MAX_IMPORTS,
  );
  const isIn = (file: string, place: string) =>
    file === place || (place.endsWith('/') && file.startsWith(place));
  const places = Object.keys(ALLOWED);
  expect(reaching.filter((file) => !places.some((place) => isIn(file, place)))).toEqual([]);
  expect(places.filter((place) => !reaching.some((file) => isIn(file, place)))).toEqual([]);
});
