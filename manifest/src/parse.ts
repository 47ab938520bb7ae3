/** Parses manifests and declarations that come from outside. */
import type * as z from 'zod';
import { ManifestError } from './errors.ts';
import {
  type Postprocess,
  type Preprocess,
  postprocessSchema,
  preprocessSchema,
} from './image-declaration.ts';
import { type Manifest, manifestSchema } from './manifest.ts';
import { unknownFields } from './unknown-fields.ts';

/** Brackets in each other; packaging writes fewer than ten. */
const MOST_DEPTH = 64;

/** Problems that a message lists at most. */
const MOST_NAMED = 10;

/** Bytes of a manifest at most: some 40,000 files. It is parsed at once, whoever the archive is from. */
export const MAX_MANIFEST_BYTES = 8 * 2 ** 20;

/** Asked before the file is read. @throws ManifestError for more than {@link MAX_MANIFEST_BYTES} */
export function checkManifestSize(bytes: number): void {
  if (bytes <= MAX_MANIFEST_BYTES) return;
  throw new ManifestError(
    '',
    `the manifest has ${bytes} bytes; ${MAX_MANIFEST_BYTES} are the most. Package fewer files: join small ones into one.`,
  );
}

/** Parses the text of `code/manifest.json`. @throws ManifestError naming the field */
export function parseManifest(text: string): Manifest {
  checkManifestSize(text.length);
  checkDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ManifestError(
      '',
      `the manifest is not JSON (${(error as Error).message}). Package the model again.`,
      { cause: error },
    );
  }
  return check(manifestSchema, value, '');
}

/** Before it is parsed, which takes seconds for millions of brackets in each other. */
function checkDepth(text: string): void {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted && character === '\\') at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === ']' || character === '}') depth--;
    else if (character === '[' || character === '{') depth++;
    if (depth > MOST_DEPTH) {
      throw new ManifestError(
        '',
        `the manifest is nested more than ${MOST_DEPTH} deep. Package the model again.`,
      );
    }
  }
}

/** Checks a `preprocess` declaration and fills in the defaults. @throws ManifestError naming the field */
export function parsePreprocess(value: unknown): Preprocess {
  return check(preprocessSchema, value, 'preprocess');
}

/** Checks a `postprocess` declaration and fills in the defaults. @throws ManifestError naming the field */
export function parsePostprocess(value: unknown): Postprocess {
  return check(postprocessSchema, value, 'postprocess');
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  root: string,
): z.output<Schema> {
  const result = schema.safeParse(value, { error: unknownFields });
  if (result.success) return result.data;
  const [issue, ...others] = result.error.issues;
  const field = [root, ...(issue?.path ?? [])].filter((part) => part !== '').join('.');
  const rest = others
    .slice(0, MOST_NAMED - 1)
    .map(
      (other) =>
        `\n${[root, ...other.path].filter((part) => part !== '').join('.')}: ${other.message}`,
    );
  if (others.length >= MOST_NAMED) rest.push(`\nand ${others.length - MOST_NAMED + 1} more`);
  throw new ManifestError(field, `${issue?.message ?? 'invalid'}${rest.join('')}`, {
    cause: result.error,
  });
}
