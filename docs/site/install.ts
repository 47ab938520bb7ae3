/** What the documentation is made with: packages with a lockfile of their own, beside those of the repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Installs the packages if they are missing or older than the lockfile. @returns their folder */
export function installTools(): string {
  const modules = join(import.meta.dirname, 'node_modules');
  const installed = join(modules, '.package-lock.json');
  const lockfile = join(import.meta.dirname, 'package-lock.json');
  const isCurrent =
    existsSync(installed) && statSync(installed).mtimeMs > statSync(lockfile).mtimeMs;
  if (!isCurrent) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: import.meta.dirname,
      stdio: 'inherit',
    });
  }
  return modules;
}
