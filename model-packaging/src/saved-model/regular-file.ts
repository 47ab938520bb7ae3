import { statSync } from 'node:fs';
import { PackagingError } from '../errors.ts';

/**
 * Pipes and devices are refused before they are opened, which may wait for ever.
 * @throws PackagingError BAD_FILE_NAME, the system's error if there is nothing
 */
export function requireRegularFile(path: string): void {
  if (statSync(path).isFile()) return;
  throw new PackagingError(
    'BAD_FILE_NAME',
    `${path} is a directory, a pipe, a socket or a device. Put the model's file there.`,
  );
}
