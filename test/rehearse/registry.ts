/** A real registry of images, Docker's own, instead of ECR's. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const CACHE = resolve('.cache', 'rehearse', 'registry');
const START_MS = 30_000;

/** A running registry. */
export interface Registry {
  /** `HOST:PORT`, without TLS. */
  readonly address: string;
  /** Where an image with an address in ECR is found instead. */
  pulledFrom(ecrUri: string): string;
  stop(): Promise<void>;
}

/**
 * The program, out of Debian's package where it is not on the PATH. Unpacked, not installed, because the
 * package would start a service.
 */
function registryProgram(): string | undefined {
  if (spawnSync('docker-registry', ['--version'], { stdio: 'ignore' }).status === 0) {
    return 'docker-registry';
  }
  const program = join(CACHE, 'usr', 'bin', 'docker-registry');
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', ...args], { cwd: CACHE, stdio: 'ignore' }).status === 0;
  const download = () => apt('download', 'docker-registry');
  if (!download() && !(apt('update') && download())) return undefined;
  const archive = readdirSync(CACHE).find((file) => file.endsWith('.deb'));
  if (!archive) return undefined;
  execFileSync('dpkg-deb', ['-x', archive, '.'], { cwd: CACHE });
  return program;
}

/** Starts an empty registry; its log goes to `.cache/rehearse/registry.log`. Undefined without the program. */
export async function startRegistry(): Promise<Registry | undefined> {
  const program = registryProgram();
  if (!program) return undefined;
  const data = join(CACHE, 'data');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const address = `127.0.0.1:${await freePort()}`;
  const log = openSync(`${CACHE}.log`, 'w');
  const config = join(CACHE, 'config.yml');
  const settings = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: data } },
    http: { addr: address },
  };
  // JSON is YAML.
  writeFileSync(config, JSON.stringify(settings));
  const child = spawn(program, ['serve', config], { stdio: ['ignore', log, log] });
  const stop = async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(data, { recursive: true, force: true });
  };
  await untilReady(address, child).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    address,
    pulledFrom: (ecrUri) => `${address}${ecrUri.slice(ecrUri.indexOf('/'))}`,
    stop,
  };
}

async function untilReady(address: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the registry ended with ${child.exitCode}`);
    const answer = await fetch(`http://${address}/v2/`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`the registry was not ready within ${START_MS / 1000} s`);
}
