/** What this machine has for serving, packaging and deploying. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MachineFinding } from './finding.ts';

/** Everything, in the order of a reader's way: serve, package, deploy. */
export function machineFindings(): Promise<MachineFinding[]> {
  return Promise.all([
    node(),
    libraryFinding(),
    pip(),
    modelServer(),
    port(),
    cacheDisk(),
    temporaryDisk(),
    keras(),
    containerBuilder(),
    awsCredentials(),
  ]);
}

const serve = { group: 'Serve', needed: false } as const;
const pack = { group: 'Package', needed: false } as const;
const deploy = { group: 'Deploy', needed: false } as const;

async function node(): Promise<MachineFinding> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  const finding = { ...serve, what: 'Node', needed: true, ok, detail: process.version };
  return ok ? finding : { ...finding, fix: 'install Node 20.19 or later' };
}

/** TensorFlow's library: here, to be fetched at the first serve, or out of reach. */
export async function libraryFinding(): Promise<MachineFinding> {
  const { findLibrary, pinnedWheel } = await import('@sagemaker-tfs/libtensorflow');
  const finding = { ...serve, what: 'TensorFlow library', needed: true };
  try {
    const found = await findLibrary();
    if (found) return { ...finding, ok: true, detail: `${found.directory} (${found.source})` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { ...finding, ok: false, detail, fix: 'set LIBTENSORFLOW_PATH to another, or unset it' };
  }
  if (!pinnedWheel()) {
    const detail = `not here, and there is none to fetch for ${process.platform} on ${process.arch}`;
    const fix =
      'use Linux on x86-64 or arm64, for example in a container, or a Mac with Apple silicon';
    return { ...finding, ok: false, detail, fix };
  }
  return (await pip()).ok
    ? { ...finding, ok: true, detail: 'not here yet; the first serve fetches it with pip' }
    : {
        ...finding,
        ok: false,
        detail: 'not here, and no pip to fetch it',
        fix: 'install Python 3 with pip, or set LIBTENSORFLOW_PATH',
      };
}

async function pip(): Promise<MachineFinding> {
  const version = await firstLine('python3', ['-m', 'pip', '--version']);
  const finding = { ...serve, what: 'pip' };
  if (version !== undefined) return { ...finding, ok: true, detail: withoutPlace(version) };
  const fix = 'install Python 3 with pip; it fetches the TensorFlow library, once';
  return { ...finding, ok: false, detail: 'not found', fix };
}

/** `23.2.1 (python 3.11)`, without the folder that pip names between. */
const withoutPlace = (version: string) => version.replace(/^pip /, '').replace(/ from .* \(/, ' (');

async function modelServer(): Promise<MachineFinding> {
  const { findOnPath } = await import('../serving/model-server.ts');
  const found = findOnPath(process.env.PATH ?? '');
  const detail = found ?? 'not on PATH; the local model server stands in';
  return { ...serve, what: 'TensorFlow Serving', ok: true, detail };
}

const PORT = 8080;

async function port(): Promise<MachineFinding> {
  const { requireFreePort } = await import('../serving/free-port.ts');
  const finding = { ...serve, what: `port ${PORT}` };
  try {
    await requireFreePort(PORT);
    return { ...finding, ok: true, detail: 'free' };
  } catch {
    const fix = 'end the program that listens there, or serve with --port';
    return { ...finding, ok: false, detail: 'in use', fix };
  }
}

/** GB that the library takes while it is fetched and unpacked. */
const LIBRARY_GB = 2;
/** GB in the temporary folder: an archive is laid out there before it is served. */
const TEMPORARY_GB = 1;

async function cacheDisk(): Promise<MachineFinding> {
  const { findLibrary } = await import('@sagemaker-tfs/libtensorflow');
  const isHere = await findLibrary().then(Boolean, () => false);
  const folder = process.env.XDG_CACHE_HOME ?? homedir();
  return disk({ ...serve, what: 'disk for the library' }, folder, isHere ? 0 : LIBRARY_GB);
}

function temporaryDisk(): Promise<MachineFinding> {
  return disk({ ...pack, what: 'temporary disk' }, tmpdir(), TEMPORARY_GB);
}

async function disk(
  finding: Pick<MachineFinding, 'group' | 'needed' | 'what'>,
  folder: string,
  gigabytes: number,
): Promise<MachineFinding> {
  const existing = nearest(folder);
  const { bavail, bsize } = await statfs(existing);
  const free = (bavail * bsize) / 1e9;
  const detail = `${free.toFixed(1)} GB free`;
  if (free >= gigabytes) return { ...finding, ok: true, detail };
  return { ...finding, ok: false, detail, fix: `free ${gigabytes} GB in ${existing}` };
}

/** The folder, or the nearest one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

/** `.keras` and `.h5` files are converted by Python with TensorFlow, else by TensorFlow's image. */
async function keras(): Promise<MachineFinding> {
  const finding = { ...pack, what: 'Keras conversion' };
  // Looked for, not imported: that takes seconds.
  const look = 'import importlib.util as u, sys; sys.exit(u.find_spec("tensorflow") is None)';
  if ((await firstLine('python3', ['-c', look])) !== undefined) {
    return { ...finding, ok: true, detail: 'with the TensorFlow of python3' };
  }
  const docker = process.env.CDK_DOCKER ?? 'docker';
  if ((await firstLine(docker, ['info'])) !== undefined) {
    return { ...finding, ok: true, detail: `with TensorFlow's image, by ${docker}` };
  }
  const fix = 'pip install tensorflow, for .keras and .h5 files; SavedModels need neither';
  return {
    ...finding,
    ok: false,
    detail: 'no Python with TensorFlow, and no Docker that runs',
    fix,
  };
}

async function containerBuilder(): Promise<MachineFinding> {
  const builder = process.env.CDK_DOCKER ?? 'docker';
  const finding = { ...deploy, what: 'container builder' };
  const needed = 'needed by cdk deploy, not to try models here';
  const version = await firstLine(builder, ['--version']);
  if (version === undefined) {
    const fix = 'install Docker, or set CDK_DOCKER to another builder';
    return { ...finding, ok: false, detail: `no ${builder} here; ${needed}`, fix };
  }
  if ((await firstLine(builder, ['info'])) !== undefined) {
    return { ...finding, ok: true, detail: version };
  }
  const detail = `${builder} is installed, but its daemon does not answer; ${needed}`;
  return { ...finding, ok: false, detail, fix: 'start it' };
}

/** Milliseconds for the chain: its last link asks an address that answers only within AWS. */
const CHAIN_TIMEOUT = 5_000;

/** What a deployment fails for where nobody asked before. */
const QUOTA =
  "Ask Service Quotas for twice an endpoint's instances ('ml... for endpoint usage'): an update runs the old and the new ones together";

/** Through the chain that every call here uses: environment, profiles, SSO, a role of the machine. */
async function awsCredentials(): Promise<MachineFinding> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const finding = { ...deploy, what: 'AWS credentials' };
  const missing = {
    ...finding,
    ok: false,
    detail: 'none; needed by cdk deploy only',
    fix: 'aws sso login or aws configure, and AWS_PROFILE where it is not the default',
  };
  const client = new S3Client({ region: 'us-east-1' });
  const late = new AbortController();
  try {
    const timeout = sleep(CHAIN_TIMEOUT, undefined, { signal: late.signal });
    if (!(await Promise.race([client.config.credentials(), timeout]))) return missing;
    const detail = `found; doctor --account looks into the account. ${QUOTA}`;
    return { ...finding, ok: true, detail };
  } catch {
    return missing;
  } finally {
    late.abort();
    client.destroy();
  }
}

/** What a program prints first, or its name; undefined if it is missing or fails. */
async function firstLine(name: string, args: readonly string[]): Promise<string | undefined> {
  const { execa } = await import('execa');
  const result = await execa(name, args, { reject: false, timeout: 10_000 });
  return result.exitCode === 0 ? result.stdout.split('\n')[0] || name : undefined;
}
