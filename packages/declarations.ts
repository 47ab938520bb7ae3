/** Declarations of the published packages: those of this repository's sources, as far as an entry reaches them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Emits the declarations of all sources into a folder laid out as the repository. */
export function emitDeclarations(root: string, folder: string): void {
  const config = join(folder, 'tsconfig.json');
  mkdirSync(folder, { recursive: true });
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    workspaces: string[];
  };
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: folder,
      rootDir: root,
      stripInternal: true,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    // All of them: what is reached by a package's name only would not be emitted.
    include: workspaces.flatMap((room) => [`${root}/${room}/*.ts`, `${root}/${room}/src/**/*.ts`]),
    exclude: ['**/*.test.ts', '**/*.bench.ts', '**/node_modules', '**/dist'],
  };
  writeFileSync(config, JSON.stringify(options));
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-p', config], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Where declarations go. */
interface DeclarationTree {
  /** Entry below the repository, `cli/src/index.ts`, by the name that it gets. */
  readonly entries: Readonly<Record<string, string>>;
  /** Emitted by {@link emitDeclarations}. */
  readonly emitted: string;
  readonly root: string;
  /** The folder to write; its `package.json` says how its files are read. */
  readonly out: string;
  readonly type: 'module' | 'commonjs';
  /** Packages of this repository that stay imports, as they are published themselves. */
  readonly published: readonly string[];
}

const SPECIFIER = /((?:from|import)\s*\(?\s*)(['"])([^'"]+)\2/g;

/**
 * Copies what the entries reach, with relative imports between the files.
 * @returns the packages that the declarations import from the registry
 */
export function copyDeclarations(tree: DeclarationTree): Set<string> {
  const outside = new Set<string>();
  const done = new Set<string>();
  const todo = Object.values(tree.entries);
  for (let source = todo.pop(); source !== undefined; source = todo.pop()) {
    if (done.has(source)) continue;
    done.add(source);
    const from = source;
    const text = readFileSync(join(tree.emitted, declarationOf(source)), 'utf8').replace(
      SPECIFIER,
      (whole, start: string, quote: string, specifier: string) => {
        const target = sourceOf(tree, from, specifier);
        if (target === undefined) {
          outside.add(packageOf(specifier));
          return whole;
        }
        todo.push(target);
        const path = relative(dirname(from), target).replace(/\.ts$/, '.js');
        return `${start}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`;
      },
    );
    const file = join(tree.out, declarationOf(source));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  writeFileSync(join(tree.out, 'package.json'), `${JSON.stringify({ type: tree.type })}\n`);
  for (const [name, entry] of Object.entries(tree.entries)) {
    const path = `./${entry.replace(/\.ts$/, '.js')}`;
    // Some of what follows speaks of Node's types.
    const text = `/// <reference types="node" />\nexport * from '${path}';\n`;
    writeFileSync(join(tree.out, `${name}.d.ts`), text);
  }
  outside.delete('node');
  return outside;
}

const declarationOf = (source: string) => source.replace(/\.ts$/, '.d.ts');

/** The source that a specifier names, below the repository; undefined for what stays an import. */
function sourceOf({ root, published }: DeclarationTree, from: string, specifier: string) {
  if (specifier.startsWith('.')) {
    return relative(root, resolve(root, dirname(from), specifier));
  }
  const name = packageOf(specifier);
  const isOurs = name === 'sagemaker-tfs' || name.startsWith('@sagemaker-tfs/');
  if (!isOurs || published.includes(name)) return undefined;
  const manifest = join(root, 'node_modules', name, 'package.json');
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    exports: Record<string, string | { types: string }>;
  };
  const target = exports[`.${specifier.slice(name.length)}`];
  const path = typeof target === 'string' ? target : target?.types;
  if (path === undefined) throw new Error(`${from} imports ${specifier}, which is not exported`);
  const room = name === 'sagemaker-tfs' ? 'cli' : roomOf(root, name);
  return join(room, path);
}

function roomOf(root: string, name: string): string {
  const room = name.slice('@sagemaker-tfs/'.length);
  if (existsSync(join(root, room, 'package.json'))) return room;
  throw new Error(`no folder for ${name}`);
}

/** `@scope/name` or `name` of a specifier; `node` for Node's own modules. */
function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return 'node';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
