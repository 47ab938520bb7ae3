/** What the batch tests share: a container to misbehave, and the command line as a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { listening } from '../../../test/support/listening.ts';

export const ROOT = join(import.meta.dirname, '../../..');

/** A container that answers as the test says. */
export interface StubContainer {
  readonly url: string;
  /** Bodies of `/invocations`, in the order of their arrival. */
  readonly bodies: Buffer[];
  close(): Promise<void>;
}

/** Answers `/invocations`; what is returned becomes the body of a 200. */
export type Invocations = (
  body: Buffer,
  response: ServerResponse,
  request: IncomingMessage,
) => string | Uint8Array | undefined | Promise<string | Uint8Array | undefined>;

/** Starts a container with its `/ping` healthy and these execution parameters. */
export async function startStub(
  invocations: Invocations,
  parameters: object | undefined = { MaxConcurrentTransforms: 4, MaxPayloadInMB: 1 },
): Promise<StubContainer> {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    if (request.url === '/ping') response.end();
    else if (request.url === '/execution-parameters') {
      response.writeHead(parameters ? 200 : 404).end(JSON.stringify(parameters ?? {}));
    } else {
      const body = await buffer(request);
      bodies.push(body);
      const answer = await invocations(body, response, request);
      if (answer !== undefined) response.end(answer);
    }
  });
  return { ...(await listening(server)), bodies };
}

/** What a command did. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** The command as it is built: what people run. */
const PROGRAM = join(ROOT, 'cli/bin/sagemaker-tfs.js');

/** Runs `sagemaker-tfs` to its end, with variables of its environment. */
export async function sagemakerTfs(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[exitCode], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { exitCode: Number(exitCode), stdout, stderr };
}

/** Starts `sagemaker-tfs`, to be interrupted. */
export function startSagemakerTfs(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], { cwd: ROOT, stdio: 'ignore' });
}
