/**
 * What an earlier run learned of files: their SHA-256, by size and modification time, and which files a
 * module imports. An unchanged file is not read again, an unchanged module not bundled.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';

const READ_SIZE = 1024 * 1024;

/** Files changed this recently may change again within the clock's resolution; they are always read. */
const SETTLED_MS = 2_000;

const cacheSchema = z.object({
  files: z.record(
    z.string(),
    z.object({ size: z.number(), mtimeMs: z.number(), sha256: z.string() }),
  ),
  /** Files that a module's bundle is made of, and the state of the directories that they lie in. */
  modules: z.record(
    z.string(),
    z.object({ files: z.array(z.string()), directories: z.record(z.string(), z.number()) }),
  ),
});

/** Where digests are kept between runs. */
const CACHE_FILE = join('.cache', 'sagemaker-tfs', 'files.json');

/** Facts about files, kept in one JSON file below the current directory. */
export class FileCache {
  private readonly cacheFile: string;
  private readonly known: z.output<typeof cacheSchema>;
  private changed = false;

  /** @param cacheFile a file that is damaged or of another format counts as empty */
  constructor(cacheFile: string = resolve(CACHE_FILE)) {
    this.cacheFile = cacheFile;
    this.known = readCache(cacheFile);
  }

  /** SHA-256 (hex) of a file. */
  sha256(file: string): string {
    const path = resolve(file);
    const { size, mtimeMs } = statSync(path);
    const entry = this.known.files[path];
    if (entry && entry.size === size && entry.mtimeMs === mtimeMs) return entry.sha256;
    const sha256 = hashFile(path);
    if (Date.now() - mtimeMs > SETTLED_MS) {
      this.known.files[path] = { size, mtimeMs, sha256 };
      this.changed = true;
    }
    return sha256;
  }

  /**
   * The files of a module.
   * @param key names the module and how it is bundled
   * @param find returns the files if they are unknown or may have changed: one of them has another
   *   content, or a directory has more or fewer files, and any of them may be imported instead
   */
  moduleFiles(key: string, find: () => readonly string[]): readonly string[] {
    const entry = this.known.modules[key];
    if (entry && this.isCurrent(entry)) return entry.files;
    const files = [...find()];
    for (const file of files) this.sha256(file);
    const directories = [...new Set(files.map((file) => dirname(file)))];
    this.known.modules[key] = {
      files,
      directories: Object.fromEntries(
        directories.map((directory) => [directory, statSync(directory).mtimeMs]),
      ),
    };
    this.changed = true;
    return files;
  }

  private isCurrent(entry: z.output<typeof cacheSchema>['modules'][string]): boolean {
    const sameDirectories = Object.entries(entry.directories).every(
      ([path, mtimeMs]) => statSync(path, { throwIfNoEntry: false })?.mtimeMs === mtimeMs,
    );
    return sameDirectories && entry.files.every((file) => this.isKnown(file));
  }

  private isKnown(file: string): boolean {
    const stat = statSync(file, { throwIfNoEntry: false });
    const entry = this.known.files[file];
    return stat?.size === entry?.size && stat?.mtimeMs === entry?.mtimeMs && stat !== undefined;
  }

  /** Keeps what was learned. A cache that cannot be written costs time at the next run, nothing else. */
  save(): void {
    if (!this.changed) return;
    try {
      const directory = dirname(this.cacheFile);
      mkdirSync(directory, { recursive: true });
      // Paths and times of this machine are nobody else's.
      writeFileSync(join(directory, '.gitignore'), '*\n');
      const temporary = `${this.cacheFile}.${process.pid}`;
      writeFileSync(temporary, JSON.stringify(this.known));
      renameSync(temporary, this.cacheFile);
    } catch {
      return;
    }
    this.changed = false;
  }
}

function readCache(file: string): z.output<typeof cacheSchema> {
  try {
    return cacheSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { files: {}, modules: {} };
  }
}

function hashFile(path: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  const handle = openSync(path, 'r');
  try {
    for (;;) {
      const bytes = readSync(handle, buffer, 0, READ_SIZE, null);
      if (bytes === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytes));
    }
  } finally {
    closeSync(handle);
  }
}
