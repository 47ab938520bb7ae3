/** The imports of this repository, types included: none runs in a circle, and rooms import only what they may. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { MAY_IMPORT } from './rooms.ts';
import { type Import, imports, isTestSupport, sources } from './source-imports.ts';
import { ROOT } from './tracked-files.ts';

/** What stands outside the rooms, and what of it each folder may import beside the rooms' public entries. */
const WORKSHOP: Readonly<Record<string, readonly string[]>> = {
  tools: [],
  bench: ['tools'],
  docs: ['tools', 'bench'],
  test: ['tools', 'bench', 'docs'],
  conformance: ['tools', 'docs', 'test'],
  demo: ['tools'],
  packages: ['tools'],
};

/** Room of a package of ours, by the name that others import it by. */
const ROOM_OF: Readonly<Record<string, string>> = {
  'sagemaker-tfs': 'cli',
  '@sagemaker-tfs/cdk': 'lib',
};

function roomOf(specifier: string): string | undefined {
  const name = /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[1] ?? '';
  return ROOM_OF[name] ?? /^@sagemaker-tfs\/(.+)$/.exec(name)?.[1];
}

/** Groups of files that import each other, directly or through others (Tarjan's algorithm). */
function circles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node) as number);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      else if (!stack.includes(next)) continue;
      low.set(node, Math.min(low.get(node) as number, low.get(next) as number));
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return found;
}

test('no imports run in a circle', () => {
  const known = new Set(sources);
  const edges = new Map(sources.map((file) => [file, [] as string[]]));
  for (const { from, to } of imports) {
    if (!to.startsWith('.')) continue;
    const target = normalize(join(dirname(from), to));
    if (known.has(target)) edges.get(from)?.push(target);
  }
  expect([...edges.values()].flat().length).toBeGreaterThan(1000);
  expect(circles(edges)).toEqual([]);
});

test('rooms import only the rooms that they may', () => {
  const refused = imports.flatMap(({ from, to }) => {
    const room = from.split('/', 1)[0] ?? '';
    const may = MAY_IMPORT[room];
    if (!may) return [];
    const target = to.startsWith('.')
      ? normalize(join(dirname(from), to)).split('/', 1)[0]
      : roomOf(to);
    const isOwn = target === undefined || target === room || !(target in MAY_IMPORT);
    return isOwn || may.includes(target) ? [] : [`${from} -> ${to}`];
  });
  expect(refused).toEqual([]);
});

test('what stands outside the rooms imports one way too', () => {
  const between = imports.flatMap(({ from, to }) => {
    const target = normalize(join(dirname(from), to)).split('/', 1)[0] ?? '';
    const own = from.split('/', 1)[0] ?? '';
    const isBetween = to.startsWith('.') && own in WORKSHOP && target in WORKSHOP && target !== own;
    return isBetween ? [{ own, target, line: `${from} -> ${to}` }] : [];
  });
  expect(between.length).toBeGreaterThan(50);
  const refused = between.filter(({ own, target }) => !WORKSHOP[own]?.includes(target));
  expect(refused.map(({ line }) => line)).toEqual([]);
});

test('tools stand on no room: tests of every room may use them', () => {
  const tools = imports.filter(({ from }) => from.startsWith('tools/'));
  expect(tools.length).toBeGreaterThan(10);
  const refused = tools.filter(
    ({ to }) => (roomOf(to) ?? '') in MAY_IMPORT || to.startsWith('../'),
  );
  expect(refused).toEqual([]);
});

/** Files of the rooms that are no tests, and help none. */
const product = imports.filter(
  ({ from }) => (from.split('/', 1)[0] ?? '') in MAY_IMPORT && !isTestSupport(from),
);

test('rooms import nothing that stands outside the rooms', () => {
  const refused = product.flatMap(({ from, to }) => {
    const target = normalize(join(dirname(from), to));
    const isOurs = !to.startsWith('.') || (target.split('/', 1)[0] ?? '') in MAY_IMPORT;
    // The root's package.json and scripts of the build; a table of prices.
    return isOurs || !target.includes('/') || target.startsWith('prices/')
      ? []
      : [`${from} -> ${target}`];
  });
  expect(refused).toEqual([]);
});

/**
 * The two neighboring folders that an import joins: where the paths of its files part. Undefined if one of the files lies
 * directly where they part: it is the floor or the roof of the folders beside it.
 */
function folders({ from, to }: Import): [from: string, to: string] | undefined {
  const own = dirname(from).split('/');
  const other = dirname(normalize(join(dirname(from), to))).split('/');
  const part = own.findIndex((name, at) => name !== other[at]);
  if (part < 0 || part >= other.length) return undefined;
  return [own.slice(0, part + 1).join('/'), other.slice(0, part + 1).join('/')];
}

test('folders of a room import each other one way', () => {
  const edges = new Map<string, string[]>();
  for (const one of product) {
    const [from, to] = (one.to.startsWith('.') && folders(one)) || [];
    if (from === undefined || to === undefined) continue;
    edges.set(from, [...(edges.get(from) ?? []), to]);
    if (!edges.has(to)) edges.set(to, []);
  }
  expect([...edges.values()].flat().length).toBeGreaterThan(500);
  expect(circles(edges)).toEqual([]);
});

test('folders of end-to-end tests import each other one way', () => {
  const edges = new Map<string, string[]>();
  for (const one of imports) {
    const [from = '', to = ''] = (one.to.startsWith('.') && folders(one)) || [];
    if (!from.startsWith('test/') || !to.startsWith('test/')) continue;
    edges.set(from, [...(edges.get(from) ?? []), to]);
    if (!edges.has(to)) edges.set(to, []);
  }
  expect([...edges.values()].flat().length).toBeGreaterThan(10);
  expect(circles(edges)).toEqual([]);
});

test('folders of lib and the constructs beside them import each other one way', () => {
  const edges = new Map<string, string[]>();
  for (const { from, to } of product) {
    const target = normalize(join(dirname(from), to));
    if (!from.startsWith('lib/') || !to.startsWith('.') || !target.startsWith('lib/')) continue;
    const [own = '', other = ''] = [from, target].map((file) => file.split('/')[1]);
    if (own === other) continue;
    edges.set(own, [...(edges.get(own) ?? []), other]);
    if (!edges.has(other)) edges.set(other, []);
  }
  expect([...edges.values()].flat().length).toBeGreaterThan(200);
  expect(circles(edges)).toEqual([]);
});

/**
 * Folders and files of `container/src` in the order of docs/architecture.md, in which a request and the start build on
 * them: each may import itself and what stands before it.
 */
const CONTAINER_ORDER = (() => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, section = ''] = page.split('## Inside the container');
  return [...(section.split('\n\n**')[0] ?? '').matchAll(/^\| (`.+?) \|/gm)].flatMap(
    ([, cell = '']) =>
      [...cell.matchAll(/`([a-z-]+(?:\.ts)?)[^`]*`/g)].map(([, name = '']) => name),
  );
})();

test('folders of the container import only what stands above them', () => {
  const placeOf = (file: string) => {
    const [, , name = ''] = file.split('/');
    return CONTAINER_ORDER.indexOf(name);
  };
  const sources = product.filter(({ from }) => from.startsWith('container/src/'));
  expect(sources.length).toBeGreaterThan(500);
  const refused = sources.flatMap(({ from, to }) => {
    const target = normalize(join(dirname(from), to));
    if (!to.startsWith('.') || !target.startsWith('container/src/')) return [];
    const [own, other] = [placeOf(from), placeOf(target)];
    return own >= 0 && other >= 0 && other <= own ? [] : [`${from} -> ${target}`];
  });
  expect(refused).toEqual([]);
});

test('the clients for the model server stand alone', () => {
  const taken = product.flatMap(({ from, to }) => {
    const target = normalize(join(dirname(from), to));
    const isOurs = from.startsWith('container/src/transport/') && to.startsWith('.');
    return isOurs ? [target.split('/').slice(0, 3).join('/')] : [];
  });
  expect([...new Set(taken)].sort()).toEqual(['container/src/memory', 'container/src/transport']);
});

test('a circle would be found', () => {
  const edges = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
  ]);
  expect(circles(edges)).toEqual([['a', 'b', 'c']]);
});
