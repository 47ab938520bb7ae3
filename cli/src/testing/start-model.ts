/** The real model behind the real runtime, started once for a file of tests. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type PredictOptions, predict, type RequestBody } from '@sagemaker-tfs/client';
import { jsonText } from '@sagemaker-tfs/tensors';
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import { CommandError, usageError } from '../errors.ts';
import { commandFile } from '../files.ts';
import { freePort } from '../serving/free-port.ts';

/** What to start. */
export interface StartModelOptions {
  /** A model directory, `model.tar.gz`, `.zip`, `.keras`, `.h5` or `s3://` URI. */
  readonly model: string;
  /** TypeScript or JavaScript handler. Default: the model's own, if it has one. */
  readonly handler?: string;
  /** How the runtime reaches the model. Default: `grpc`. */
  readonly backend?: Transport;
  /** The runtime's settings, for example `SAGEMAKER_TFS_ENABLE_BATCHING`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Seconds until it must answer; a first start fetches the TensorFlow library. Default: 300. */
  readonly timeoutSeconds?: number;
}

/** How a body is posted: as `predict` of `sagemaker-tfs/client` takes it. */
export type PostOptions = PredictOptions;

/** A model that answers. */
export interface ModelUnderTest {
  /** For example `http://127.0.0.1:40123`. */
  readonly url: string;
  /**
   * Posts a body to `/invocations`.
   * @param body bytes, text, a body of `sagemaker-tfs/client`, or any other object, which is sent as JSON
   * @throws PredictionError with status, code and the handler's own message if the answer is an error
   */
  post(body: Uint8Array | string | RequestBody | object, options?: PostOptions): Promise<Answer>;
  /** What the runtime has logged: all lines of what `post` has answered, unless its log level leaves them out. */
  log(): string;
  /** Ends it; call this after the last test. */
  stop(): Promise<void>;
}

/** Milliseconds between two looks at `/ping`. */
const PING_EVERY = 50;
/** Milliseconds between two looks at the log. */
const LINE_EVERY = 5;
/** The last line of each request, whatever happened to it. */
const REQUEST_LINE = /"msg":"invocation(?: failed| refused)?"/g;
/** Milliseconds that a line is waited for at most: a log level may leave it out. */
const LINE_WITHIN = 2_000;

/**
 * Starts `sagemaker-tfs serve` on a free port and waits until it is healthy.
 * @throws CommandError RUNTIME_FAILED or RUNTIME_NOT_READY with the command's last words, USAGE if `model` is missing
 */
export async function startModel(options: StartModelOptions): Promise<ModelUnderTest> {
  if (typeof options?.model !== 'string' || options.model === '') {
    throw usageError(
      'startModel: the option "model" is missing. Pass { model } with the path or s3:// URI of a model.',
    );
  }
  const port = await freePort();
  const child = spawn(process.execPath, [commandFile(), 'serve', ...argumentsOf(options, port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // As under npm: it ends when this process does, however that comes.
    env: { ...process.env, npm_lifecycle_event: 'test' },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
  };
  const url = `http://127.0.0.1:${port}`;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const isSettled = async () => (await isHealthy(url)) || hasEnded();
  const inTime = await cameTrue(isSettled, PING_EVERY, (options.timeoutSeconds ?? 300) * 1_000);
  if (hasEnded())
    throw new CommandError('RUNTIME_FAILED', `the model did not start. Its last words:\n${said}`);
  if (!inTime) {
    await stop();
    throw new CommandError(
      'RUNTIME_NOT_READY',
      `the model was not ready in time. Its last words:\n${said}`,
    );
  }
  const linesSeen = () => said.match(REQUEST_LINE)?.length ?? 0;
  let answered = 0;
  return {
    url,
    async post(body, postOptions) {
      const before = linesSeen();
      try {
        return await predict({ url }, bodyOf(body), postOptions);
      } finally {
        const lines = Math.max(before + 1, ++answered);
        // An answer arrives before the lines that were written for it: they come through two pipes.
        await cameTrue(() => linesSeen() >= lines, LINE_EVERY, LINE_WITHIN);
      }
    },
    log: () => said,
    stop,
  };
}

/** Looks again and again. @returns whether it came true in time */
async function cameTrue(
  isTrue: () => boolean | Promise<boolean>,
  everyMs: number,
  withinMs: number,
): Promise<boolean> {
  const until = Date.now() + withinMs;
  while (!(await isTrue())) {
    if (Date.now() > until) return false;
    await sleep(everyMs);
  }
  return true;
}

function argumentsOf(options: StartModelOptions, port: number): string[] {
  const { model, handler, backend, environment = {} } = options;
  return [
    model.startsWith('s3://') ? model : resolve(model),
    ...['--port', String(port)],
    ...(handler ? ['--handler', resolve(handler)] : []),
    ...(backend ? ['--backend', backend] : []),
    ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ];
}

function bodyOf(body: Uint8Array | string | RequestBody | object) {
  if (typeof body === 'string' || body instanceof Uint8Array || isRequestBody(body)) return body;
  return jsonText(body);
}

function isRequestBody(body: object): body is RequestBody {
  return 'contentType' in body && 'bytes' in body;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const { ok } = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(2_000) });
    return ok;
  } catch {
    return false;
  }
}
