/** Pages about the house name what is there: each path that they list exists, and each folder of code is listed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Pages with tables or lists of places, and the folder that the places are in. */
const PAGES: readonly { page: string; heading?: string; room: string }[] = [
  { page: 'batch/README.md', room: 'batch/src' },
  { page: 'cli/README.md', room: 'cli' },
  { page: 'container/README.md', room: '.' },
  { page: 'lib/README.md', room: 'lib' },
  { page: 'libtensorflow/README.md', room: 'libtensorflow' },
  { page: 'manifest/README.md', room: 'manifest/src' },
  { page: 'model-packaging/README.md', heading: 'Where to change what', room: 'model-packaging' },
  { page: 'playground/README.md', room: 'playground' },
  { page: 'tensors/README.md', room: 'tensors' },
  { page: 'docs/architecture.md', heading: 'Inside the container', room: 'container/src' },
  { page: 'docs/architecture.md', heading: 'The life of a buffer', room: 'container/src' },
];
/** Pages that list every folder of a room, and the folders that need no line: made by a program, or for tests alone. */
const COMPLETE = {
  'cli/README.md': 'cli/src',
  'container/README.md': 'container/src',
  'lib/README.md': 'lib',
  'model-packaging/README.md': 'model-packaging/src',
  'docs/architecture.md': 'container/src',
};
const UNLISTED = ['gen', 'testing'];

/** A file or folder of ours; options, commands and types of media look different. */
const PATH = /`((?:[\w-]+\/)*(?:[\w-]+\.(?:ts|json)|[\w-]+\/))`/g;

/** The page, or what stands between a heading and the next of its level. */
function textOf(page: string, heading?: string): string {
  const text = readFileSync(join(ROOT, page), 'utf8');
  if (heading === undefined) return text;
  const [, part = ''] = text.split(`## ${heading}\n`);
  return part.split(/^## /m)[0] as string;
}

/** The places that tables and lists name. */
function placesIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => /^\||^- /.test(line));
  return lines.flatMap((line) => [...line.matchAll(PATH)].map(([, path = '']) => path));
}

test.each(PAGES)('places of $page', ({ page, heading, room }) => {
  const places = placesIn(textOf(page, heading));
  expect(places.length).toBeGreaterThan(2);
  const files = trackedFiles(room).map((file) => `/${file}`);
  const missing = places.filter(
    (place) =>
      !files.some((file) =>
        place.endsWith('/') ? file.includes(`/${place}`) : file.endsWith(`/${place}`),
      ),
  );
  expect(missing).toEqual([]);
});

test.each(Object.entries(COMPLETE))('%s lists every folder of %s', (page, room) => {
  const text = textOf(page);
  const folders = new Set(
    trackedFiles(`${room}/*.ts`).flatMap((file) => {
      const [folder, ...rest] = file.slice(room.length + 1).split('/');
      return folder !== undefined && rest.length > 0 ? [folder] : [];
    }),
  );
  const unlisted = [...folders].filter(
    (folder) => !UNLISTED.includes(folder) && !new RegExp(`\`(?:src/)?${folder}/`).test(text),
  );
  expect(unlisted).toEqual([]);
});

test('batch/README.md lists every file', () => {
  const text = textOf('batch/README.md');
  const files = trackedFiles('batch/src/*.ts').map((file) => file.replace('batch/src/', ''));
  const own = files.filter((file) => !/\/|\.test\.ts$|^index\.ts$/.test(file));
  expect(own.filter((file) => !text.includes(`\`${file}\``))).toEqual([]);
});
