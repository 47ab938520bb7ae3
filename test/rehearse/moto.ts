/** moto, the stand-in for AWS that `cdk deploy` talks to. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** The version that this rehearsal was written for. */
const MOTO = 'moto[server]==5.2.1';
const CACHE = resolve('.cache', 'rehearse');
const START_MS = 60_000;

/** A running moto. */
export interface Moto {
  /** Spelled `localhost`: moto's CloudFormation reads templates from S3 by that name. */
  readonly url: string;
  /** Forgets everything, as a new account. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** The program, installed into `.cache` with pip where it is not on the PATH. */
function motoProgram(): string {
  if (spawnSync('moto_server', ['--help'], { stdio: 'ignore' }).status === 0) return 'moto_server';
  const venv = join(CACHE, 'moto');
  const program = join(venv, 'bin', 'moto_server');
  if (!existsSync(program)) {
    console.log(`Installing ${MOTO} into ${venv}`);
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' });
    execFileSync(join(venv, 'bin', 'pip'), ['install', '--quiet', MOTO], { stdio: 'inherit' });
  }
  return program;
}

/** Starts moto; its log goes to `.cache/rehearse/moto.log`. */
export async function startMoto(): Promise<Moto> {
  const program = motoProgram();
  const port = await freePort();
  mkdirSync(CACHE, { recursive: true });
  const log = openSync(join(CACHE, 'moto.log'), 'w');
  const child = spawn(program, ['-p', String(port)], {
    stdio: ['ignore', log, log],
    // What a test has set; it has an environment of its own.
    env: process.env,
  });
  const url = `http://localhost:${port}`;
  try {
    await untilReady(url, child);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    url,
    async reset() {
      const { ok } = await fetch(`${url}/moto-api/reset`, { method: 'POST' });
      if (!ok) throw new Error('moto did not reset');
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`moto ended with status ${child.exitCode}`);
    const answer = await fetch(`${url}/moto-api/data.json`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Error(`moto was not ready within ${START_MS / 1000} s`);
}

/** Credentials that moto takes, as the environment has them. */
export const TEST_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
} as const;
