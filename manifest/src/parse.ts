/** Parses manifests and declarations that come from outside. */
import type * as z from 'zod';
import { ManifestError } from './errors.ts';
import { fieldFaults, fieldWords } from './field-words.ts';
import {
  type Postprocess,
  type Preprocess,
  postprocessSchema,
  preprocessSchema,
} from './image-declaration.ts';
import { type Manifest, manifestSchema } from './manifest.ts';

/** Brackets in each other; packaging writes fewer than ten. */
const MAX_DEPTH = 64;

/** Problems that a message lists at most. */
const MAX_NAMED = 10;

/** Bytes of a manifest at most: some 7,500 files, or 15,000 inputs. It is parsed at once, whoever the archive is from. */
const MAX_MANIFEST_BYTES = 2 ** 20;

/** Values of a manifest at most: a file takes three, an input of two dimensions five. */
const MAX_VALUES = 100_000;

/** Characters of `preprocess`, and of `postprocess`, as JSON: some thousand names of outputs. */
const MAX_DECLARED = 2 ** 16;

/** Asked before the file is read. @throws ManifestError for more than {@link MAX_MANIFEST_BYTES} */
export function checkManifestSize(bytes: number): void {
  if (bytes <= MAX_MANIFEST_BYTES) return;
  throw new ManifestError(
    'MANIFEST_INVALID',
    '',
    `the manifest has ${bytes} bytes. ${MAX_MANIFEST_BYTES} are the most. Package fewer files: join small ones into one.`,
  );
}

/** Parses the text of `code/manifest.json`. @throws ManifestError naming the field */
export function parseManifest(text: string): Manifest {
  checkManifestSize(text.length);
  checkStructure(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ManifestError(
      'MANIFEST_INVALID',
      '',
      `the manifest is not JSON (${(error as Error).message}). Package the model again.`,
      { cause: error },
    );
  }
  for (const part of ['preprocess', 'postprocess']) checkDeclared(value, part);
  return check(manifestSchema, value, '');
}

function checkDeclared(manifest: unknown, part: string): void {
  if (typeof manifest !== 'object' || manifest === null || !Object.hasOwn(manifest, part)) return;
  const declared = JSON.stringify((manifest as Readonly<Record<string, unknown>>)[part]).length;
  if (declared <= MAX_DECLARED) return;
  throw new ManifestError(
    'DECLARATION_INVALID',
    part,
    `has ${declared} characters. ${MAX_DECLARED} are the most. Name fewer outputs, or package the model again.`,
  );
}

const codes = (characters: string) => [...characters].map((one) => one.charCodeAt(0));
const [BACKSLASH, QUOTE, COMMA] = codes('\\",');
const BEGINS: ReadonlySet<number> = new Set(codes('[{'));
const ENDS: ReadonlySet<number> = new Set(codes(']}'));

/** Before it is parsed, which takes seconds for millions of brackets in each other, or of values. */
function checkStructure(text: string): void {
  let depth = 0;
  let values = 1;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (isQuoted && character === BACKSLASH) at++;
    else if (character === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (ENDS.has(character)) depth--;
    else if (character === COMMA) values++;
    else if (BEGINS.has(character)) {
      depth++;
      values++;
    }
    if (values > MAX_VALUES) {
      throw new ManifestError(
        'MANIFEST_INVALID',
        '',
        `the manifest has more than ${MAX_VALUES} values. Package fewer files, or join small ones into one.`,
      );
    }
    if (depth > MAX_DEPTH) {
      throw new ManifestError(
        'MANIFEST_INVALID',
        '',
        `the manifest is nested more than ${MAX_DEPTH} deep. Package the model again.`,
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
  const result = schema.safeParse(value, { error: fieldWords });
  if (result.success) return result.data;
  const [issue, ...others] = result.error.issues.flatMap((one) => fieldFaults(one));
  const field = [root, ...(issue?.path ?? [])].filter((part) => part !== '').join('.');
  const rest = others
    .slice(0, MAX_NAMED - 1)
    .map(
      (other) =>
        `\n${[root, ...other.path].filter((part) => part !== '').join('.')}: ${other.message}`,
    );
  if (others.length >= MAX_NAMED) rest.push('\nand more');
  const code = root === '' ? 'MANIFEST_INVALID' : 'DECLARATION_INVALID';
  throw new ManifestError(code, field, `${issue?.message ?? 'invalid'}${rest.join('')}`, {
    cause: result.error,
  });
}
