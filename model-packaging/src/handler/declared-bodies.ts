/** What a handler declares of its bodies: its export `openapi`, read while the handler is packaged. */
import { spawn } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { HANDLER_MODULE } from '@sagemaker-tfs/manifest/handler-module';
import { build, type Plugin } from 'esbuild';
import * as z from 'zod';
import { PackagingError } from '../errors.ts';
import { schemaProblem } from '../json-schema/schema-problem.ts';
import { OWN_BUNDLE, REQUIRE_BANNER } from './bundle.ts';

/** Path inside the archive. */
export const DECLARED_BODIES_PATH = 'code/openapi.json';

/** The export that declares bodies. */
const BODIES_EXPORT = 'openapi';

const MEDIA_TYPE = /^[\w*.+-]+\/[\w*.+-]+$/;

const NO_SCHEMA = { error: 'it is neither a schema nor true or false' };

const body = z
  .record(z.string(), z.union([z.record(z.string(), z.unknown()), z.boolean()], NO_SCHEMA))
  .refine((types) => Object.keys(types).every((type) => MEDIA_TYPE.test(type)), {
    error: 'a key is no media type, such as application/json',
  });

/** Schema of `code/openapi.json`: JSON Schemas (2020-12) by media type. */
export const declaredBodiesSchema = z.strictObject({
  /** The halves that the handler does. The built-in codecs do the other. */
  decides: z.array(z.enum(['request', 'answer'])),
  request: body.optional(),
  answer: body.optional(),
});

/** What a handler declares. */
export type DeclaredBodies = z.output<typeof declaredBodiesSchema>;

const TIMEOUT_MS = 60_000;

/**
 * Runs what the export needs, and nothing else of the handler, in a process of its own. Undefined if there is no such export.
 * @throws PackagingError HANDLER_SCHEMA
 */
export async function declaredBodies(
  file: string,
  exports: readonly string[],
): Promise<DeclaredBodies | undefined> {
  if (!exports.includes(BODIES_EXPORT)) return undefined;
  const printed = await runAlone(file, await programOf(file));
  const decides = exports.includes('handler')
    ? ['request', 'answer']
    : [
        ...(exports.includes('inputHandler') ? ['request'] : []),
        ...(exports.includes('outputHandler') ? ['answer'] : []),
      ];
  const parsed = declaredBodiesSchema.safeParse({ ...readJson(file, printed), decides });
  const problem = parsed.success ? problemOf(parsed.data) : zodProblem(parsed.error);
  if (problem !== undefined) throw unreadable(file, problem);
  return parsed.data;
}

function zodProblem({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.') ?? '';
  return `${path === '' ? '' : `${path}: `}${issue?.message}`;
}

/** What is no JSON Schema, or refers to what the document will not hold. */
function problemOf(declared: DeclaredBodies): string | undefined {
  return (['request', 'answer'] as const)
    .flatMap((half) =>
      Object.entries(declared[half] ?? {}).map(([type, schema]) =>
        schemaProblem(schema, `${half}.${type}`),
      ),
    )
    .find((problem) => problem !== undefined);
}

/** Schemas of zod and of others that follow Standard JSON Schema, and plain JSON Schemas. */
const PROGRAM = `
import { writeSync } from 'node:fs';
import { ${BODIES_EXPORT} as declared } from 'the handler';
const schema = (one, io) => {
  const standard = one?.['~standard']?.jsonSchema?.[io];
  if (standard) return standard({ target: 'draft-2020-12' });
  if (typeof one?.toJSONSchema === 'function') return one.toJSONSchema({ io });
  if (!one?.['~standard'] && !one?._def && !one?._zod) return one;
  const { vendor = 'zod' } = one['~standard'] ?? {};
  throw new Error('a schema of ' + vendor + ' that does not become a JSON Schema by itself. Convert it, such as with toJSONSchema of zod or toJsonSchema of @valibot/to-json-schema, or take zod 4.2 or later');
};
const typed = (one) => !one?.['~standard'] && Object.keys(one ?? {}).some((key) => key.includes('/'));
const plain = (at, one, io) => {
  try {
    const made = schema(one, io);
    if (JSON.stringify(made) === undefined) throw new Error('a ' + typeof made + ' is no schema');
    return made;
  } catch (error) {
    throw new Error(at + ': ' + (error?.message ?? error));
  }
};
const body = (half, one, io) =>
  Object.fromEntries(
    Object.entries(typed(one) ? one : { 'application/json': one }).map(([type, each]) => [
      type,
      plain(half + '.' + type, each, io),
    ]),
  );
const kind = Array.isArray(declared) ? 'list' : typeof declared?.then === 'function' ? 'promise' : typeof declared;
if (declared === null || kind !== 'object') throw new Error('it is ' + (declared === null ? 'null' : 'a ' + kind) + ', and no object');
const { request, answer, ...others } = declared;
const bytes = Buffer.from(JSON.stringify({
  ...others,
  ...(request !== undefined && { request: body('request', request, 'input') }),
  ...(answer !== undefined && { answer: body('answer', answer, 'output') }),
}));
for (let done = 0; done < bytes.length; ) done += writeSync(3, bytes, done);
process.exit(0);
`;

/** In place of the runtime's module: whatever is imported can be called, constructed and extended, and does nothing. */
const STUB = `
const nothing = new Proxy(class {}, {
  get: (target, name) => (name === 'prototype' ? target.prototype : nothing),
  apply: () => nothing,
});
// Bundlers copy a module and keep its prototype.
module.exports = Object.create(
  new Proxy({}, { get: (_, name) => (name === '__esModule' ? false : nothing) }),
);
`;

async function programOf(file: string): Promise<string> {
  const handler = resolve(file);
  const plugin: Plugin = {
    name: 'declared-bodies',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^the handler$/ }, () => ({ path: handler }));
      onResolve({ filter: new RegExp(`^${HANDLER_MODULE}$`) }, ({ path }) => ({
        path,
        namespace: 'stub',
        sideEffects: false,
      }));
      onLoad({ filter: /./, namespace: 'stub' }, () => ({ contents: STUB, loader: 'js' }));
    },
  };
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: dirname(handler), loader: 'js' },
    write: false,
    bundle: true,
    treeShaking: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    plugins: [OWN_BUNDLE, plugin],
    banner: { js: REQUIRE_BANNER },
    define: {
      __dirname: JSON.stringify(dirname(handler)),
      __filename: JSON.stringify(handler),
    },
  });
  return outputFiles[0]?.text ?? '';
}

async function runAlone(file: string, program: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd: dirname(resolve(file)),
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  const answer = child.stdio[3] as NodeJS.ReadableStream;
  child.stdin?.on('error', () => undefined).end(program);
  const [printed, errors, status] = await Promise.all([
    text(answer),
    text(child.stderr as NodeJS.ReadableStream),
    new Promise<number | null>((ended, failed) => {
      child.once('error', failed).once('close', ended);
    }),
  ]);
  if (status === 0) return printed;
  const why =
    /^(?:Error: |(?=\w+Error: ))(.*)$/m.exec(errors)?.[1] ??
    `it did not end in ${TIMEOUT_MS / 1000} s`;
  throw unreadable(file, why);
}

function readJson(file: string, printed: string): Record<string, unknown> {
  try {
    return JSON.parse(printed) as Record<string, unknown>;
  } catch {
    throw unreadable(file, 'it is no object');
  }
}

function unreadable(file: string, why: string): PackagingError {
  return new PackagingError(
    'HANDLER_SCHEMA',
    `the export '${BODIES_EXPORT}' of ${file} cannot be read: ${why}. Export { request, answer }, each a schema of zod, a JSON Schema, or one by media type, from a module that needs nothing of the container.`,
  );
}
