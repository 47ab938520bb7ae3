/** A file system of a megabyte, which only root can make. */
import { execFileSync } from 'node:child_process';

/** What it is mounted over is given as it was. */
interface SmallDisk {
  unmount(): void;
}

/** Mounts it over a directory. @returns undefined if this user or this machine may not */
export function mountSmallDisk(directory: string): SmallDisk | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', directory], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const unmount = () => {
    process.removeListener('exit', unmount);
    execFileSync('umount', ['-l', directory], { stdio: 'ignore' });
  };
  process.once('exit', unmount);
  return { unmount };
}
