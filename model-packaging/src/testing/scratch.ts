/** A folder of its own for each test of a file, removed afterwards. For tests only. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';

/** Paths and files in the current test's folder. */
interface Scratch {
  /** Absolute path below the folder. */
  path(...names: string[]): string;
  /** Writes a file with its folders; returns its path. */
  write(name: string, content: string | Uint8Array): string;
  /** Copies a fixture model's version directory; returns the path of the copy. */
  model(fixture: string, name: string): string;
}

/** Call at the top of a test file. */
export function useScratch(): Scratch {
  let root = '';
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'packaging-')));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const path = (...names: string[]) => join(root, ...names);
  return {
    path,
    write(name, content) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
      return path(name);
    },
    model(fixture, name) {
      cpSync(fixtureModel(fixture).directory, path(name), { recursive: true });
      return path(name);
    },
  };
}

/** Matches a PackagingError by code. */
export const withCode = (code: string) => expect.objectContaining({ code });
