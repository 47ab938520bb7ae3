/** The repository around the pins: its files, its lockfiles, and the way back. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SourceFile } from './pin.ts';

/** Files that can hold pins: text that people write. */
const TEXTS =
  /\.(ts|mts|mjs|js|py|json|md|txt|toml|ya?ml|sh|wat|c|cc|h)$|(^|\/)Dockerfile$|^\.ci\/run$/;

export class Repository {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  private git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.root, encoding: 'utf8', maxBuffer: 1 << 26 });
  }

  /** Every tracked file that can hold pins. */
  files(): SourceFile[] {
    const paths = this.git('ls-files', '-z').split('\0');
    return paths
      .filter((path) => TEXTS.test(path) && existsSync(join(this.root, path)))
      .map((path) => ({ path, text: this.read(path) }));
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  write({ path, text }: SourceFile): void {
    writeFileSync(join(this.root, path), text);
  }

  /** @throws Error if there are changes, which `restore` could not tell from the pins' */
  requireClean(): void {
    const changes = this.git('status', '--porcelain');
    if (changes !== '') throw new Error(`Commit or undo these changes first:\n${changes}`);
  }

  /** Tracked files that differ from the last commit. */
  changed(): string[] {
    return this.git('diff', '--name-only', '-z').split('\0').filter(Boolean);
  }

  /** The last commit's texts of these files. */
  restore(paths: readonly string[]): void {
    if (paths.length > 0) this.git('restore', '--', ...paths);
  }

  /** Lockfiles of the packages in these files: a folder's own, or the root's, which has all rooms. */
  lock(paths: readonly string[]): void {
    const folders = paths
      .filter((path) => /(^|\/)package\.json$/.test(path))
      .map((path) => dirname(path))
      .map((folder) => (existsSync(join(this.root, folder, 'package-lock.json')) ? folder : '.'));
    for (const folder of new Set(folders)) {
      const args = [
        'install',
        '--package-lock-only',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
      ];
      this.run('npm', args, folder);
    }
  }

  /** Installs what the lockfile has. @throws Error if npm fails */
  install(): void {
    this.run('npm', ['ci', '--no-progress']);
  }

  /** Runs a program in sight. @throws Error if it fails */
  run(program: string, args: readonly string[], folder = '.'): void {
    const { status, signal, error } = spawnSync(program, args, {
      cwd: join(this.root, folder),
      stdio: 'inherit',
    });
    if (status === 0) return;
    const how = error?.message ?? (signal ? `was ended by ${signal}` : `ended with ${status}`);
    throw new Error(`${[program, ...args].join(' ')} ${how}.`);
  }
}
