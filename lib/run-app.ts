/** An app that reports errors as sentences. */
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { App, type AppProps } from 'aws-cdk-lib/core';
import type { ServingConfig } from './config.ts';
import { ConfigurationError } from './errors.ts';
import { PACKAGE_ROOT } from './package-root.ts';
import { parseConfig } from './parse-config.ts';

/**
 * Makes an app, lets `build` fill it, and synthesizes it. An error is written to stderr as its message, with the place in
 * your own files if there is one, and ends the process with status 1. `cdk --debug`, which sets `CDK_DEBUG`, leaves
 * errors to Node, which shows their stacks.
 * @param props of the app; `autoSynth` has no effect
 */
export async function runApp(
  build: (app: App) => void | Promise<void>,
  props: AppProps = {},
): Promise<void> {
  const { stackTraceLimit } = Error;
  // The user's own line lies below the constructs and their checks.
  Error.stackTraceLimit = DEEP_STACK;
  let isBuilt = false;
  try {
    const app = new App({ ...props, autoSynth: false });
    await build(app);
    isBuilt = true;
    app.synth();
  } catch (error) {
    const { CDK_DEBUG } = process.env;
    if (CDK_DEBUG) throw error;
    process.stderr.write(`${explainedError(error, isBuilt)}\n`);
    process.exitCode = 1;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const DEEP_STACK = 100;

/**
 * Reads and checks a configuration: the default export of a file. A TypeScript file needs a loader, such as `tsx app.ts`.
 * @param file relative to the working directory
 * @throws ConfigurationError if the file is missing, cannot be loaded, or has fields that cannot be deployed
 */
export async function readConfig(file: string): Promise<ServingConfig> {
  const path = resolve(file);
  if (!existsSync(path)) {
    throw new ConfigurationError(
      `${file} does not exist. Name the configuration with -c config=FILE, relative to ${process.cwd()}.`,
    );
  }
  const config = defaultExport(await load(file, path));
  if (config === undefined) {
    throw new ConfigurationError(
      `${file} has no default export. Write export default defineConfig({ models: { ... } }).`,
    );
  }
  return parseConfig(config, file);
}

async function load(file: string, path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (cause) {
    throw new ConfigurationError(
      `${file} cannot be loaded: ${firstLines(messageOf(cause))}${placeOf(cause)}\nMend the file.`,
      { cause },
    );
  }
}

/** Of an ES module, or of CommonJS that was compiled from one, which has it one level lower. */
function defaultExport(module: unknown): unknown {
  const inner = (module as { default?: unknown }).default;
  const isCompiled = typeof inner === 'object' && inner !== null && '__esModule' in inner;
  return isCompiled ? (inner as { default?: unknown }).default : inner;
}

/**
 * The message, and where the user's own code met it. A configuration's errors name the field instead.
 * @param isBuilt all constructs had their props: the line of a later error is that of `runApp`, which gave none
 */
function explainedError(error: unknown, isBuilt: boolean): string {
  const message = firstLines(messageOf(error));
  if (error instanceof ConfigurationError) return message;
  return `${message}${placeOf(error)}${!isBuilt && isOfConstructs(error) ? UNTYPED : ''}`;
}

/** What tsx and JavaScript let through. */
const UNTYPED =
  '\n  A prop that was given there is missing or of another type. npx tsc --noEmit names it.';

/** Whether constructs were given what their types do not allow: the error arose in them, and is none of theirs. */
function isOfConstructs(error: unknown): boolean {
  const [innermost] = placesOf(error);
  return error instanceof TypeError && innermost !== undefined && isOfPackages(innermost);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Without the modules that Node names below a message. */
const firstLines = (message: string) => message.split('\nRequire stack:', 1)[0] as string;

/** The nearest line of a stack that is neither a package's nor Node's: `\n  at app.ts:12:3`. */
function placeOf(error: unknown): string {
  const place = placesOf(error).find((path) => !isOfPackages(path));
  return place === undefined ? '' : `\n  at ${relative('', place)}`;
}

/** Files of a stack with line and column, innermost first; Node's own are left out. */
function placesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return (error.stack ?? '').split('\n').flatMap((line) => {
    const [, url = ''] = /^ {4}at .*?((?:file:\/\/)?\/[^()]*:\d+:\d+)\)?$/.exec(line) ?? [];
    if (url === '') return [];
    return [url.startsWith('file:') ? fileURLToPath(url) : url];
  });
}

function isOfPackages(place: string): boolean {
  return /[\\/]node_modules[\\/]/.test(place) || place.startsWith(PACKAGE_ROOT);
}
