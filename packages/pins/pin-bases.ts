/**
 * `npm run image:pin`: asks each base image's registry what its tag points at today, and writes the digest behind the
 * tag in the Dockerfile (`node:24-bookworm-slim@sha256:...`), for a build of today. `npm run pins` does the same among
 * all other pins. With `--check` nothing is written, and the exit status is 1 if a tag has moved or is not pinned.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { withEdits } from './edits.ts';
import { findPins } from './find-pins.ts';
import { digestOf } from './image-registry.ts';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { check: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const file = positionals[0] ?? 'container/Dockerfile';
  const text = readFileSync(file, 'utf8');
  const edits: { start: number; end: number; text: string }[] = [];
  for (const { name, places } of findPins([{ path: 'Dockerfile', text }])) {
    for (const { start, end, role } of places) {
      if (role.is !== 'digest') continue;
      const digest = await digestOf(name, role.tag);
      if (digest === role.digest) continue;
      console.log(`${name}:${role.tag}  ${role.digest ?? 'not pinned'} -> ${digest}`);
      edits.push({ start, end, text: `@${digest}` });
    }
  }
  if (edits.length === 0) console.log('Every base image is what its tag points at.');
  else if (values.check) process.exitCode = 1;
  else writeFileSync(file, withEdits(text, edits));
}

main().catch((error: Error) => {
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  console.error(`${error.message}${cause}`);
  process.exitCode = 1;
});
