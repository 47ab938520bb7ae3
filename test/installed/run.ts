/**
 * `npm run test:installed`: the packages as users have them, installed from their tarballs in an empty directory.
 * `--keep` leaves the directory, and `--in DIR` works in one that was left, as it is; `--node 24` runs all of it with that
 * Node, from the registry; given twice, with one after the other. Names, as in `npm run test:installed -- types client`,
 * run those parts alone.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkApp, checkDeploy } from './app.ts';
import { checkAws } from './aws.ts';
import { checkBrowser } from './browser.ts';
import { checkClient } from './client.ts';
import { checkCommand, checkVerbs, copyExample } from './command.ts';
import { checkOldNode } from './old-node.ts';
import { checkPackages } from './packages.ts';
import { type Project, projectIn, TARBALLS } from './project.ts';
import { checkProjects } from './projects.ts';
import { checkTenMinutes } from './ten-minutes.ts';
import { checkTypes } from './types.ts';

/** Versions of what users bring, as this repository pins them. */
const BESIDE = [
  'aws-cdk@2.1148.1',
  'aws-cdk-lib@2.276.0',
  'constructs@10.8.1',
  'typescript@7.0.2',
  'tsx@4.23.15',
];

const PARTS: Readonly<Record<string, (project: Project) => Promise<void>>> = {
  command: checkCommand,
  aws: checkAws,
  projects: checkProjects,
  verbs: checkVerbs,
  packages: checkPackages,
  types: checkTypes,
  'old-node': checkOldNode,
  client: checkClient,
  browser: checkBrowser,
  app: checkApp,
  deploy: checkDeploy,
  'ten-minutes': checkTenMinutes,
};

/**
 * Parts that run at the same time, each lane in a process of its own: its environment names the stand-ins. `verbs`
 * looks at what its lane has run.
 */
const LANES = [
  ['command', 'aws', 'projects', 'verbs'],
  ['packages', 'types', 'old-node', 'client', 'browser', 'app', 'deploy', 'ten-minutes'],
];

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      keep: { type: 'boolean' },
      in: { type: 'string' },
      node: { type: 'string', multiple: true },
    },
    allowPositionals: true,
  });
  const project = projectIn(values.in);
  const lanes = LANES.map((lane) => lane.filter((name) => isNamed(name, positionals)));
  try {
    for (const [i, node] of (values.node ?? [undefined]).entries()) {
      if (node !== undefined) await step(`Node ${node}`, () => takeNode(project, node));
      if (values.in === undefined) {
        if (i === 0) await step('install', () => install(project));
        await inLanes(lanes, project, node);
      } else {
        for (const name of lanes.flat()) {
          await step(name, () => (PARTS[name] as typeof checkApp)(project));
        }
      }
    }
  } finally {
    if (values.keep) console.log(project.directory);
    else if (values.in === undefined) project.remove();
  }
}

/** Whether a part is to run: all do if none is named. */
function isNamed(name: string, named: readonly string[]): boolean {
  return named.length === 0 || named.includes(name);
}

/** @throws Error if a lane has failed, once all have ended */
async function inLanes(
  lanes: readonly (readonly string[])[],
  { directory }: Project,
  node: string | undefined,
): Promise<void> {
  const own = ['--import', 'tsx', import.meta.filename, '--in', directory];
  const options = node === undefined ? [] : ['--node', node];
  const ended = await Promise.all(
    lanes
      .filter((lane) => lane.length > 0)
      .map(async (lane) => {
        const child = spawn(process.execPath, [...own, ...options, ...lane], { stdio: 'inherit' });
        const [status] = await once(child, 'close');
        return status === 0 ? undefined : lane.join(' ');
      }),
  );
  const failed = ended.filter((lane) => lane !== undefined);
  if (failed.length > 0) throw new Error(`not passed: ${failed.join('; ')}`);
}

/** The `node` program of a major version, from the package of it for this machine. */
async function takeNode(project: Project, major: string): Promise<void> {
  const folder = join(`${project.directory}-node`, major);
  const name = `node-${process.platform}-${process.arch}`;
  const bin = join(folder, 'node_modules', name, 'bin');
  if (!existsSync(bin)) {
    const npm = ['install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${major}`];
    await project.run('npm', npm);
  }
  project.useNode(bin);
  const { stdout } = await project.run('node', ['--version']);
  assert.match(stdout, new RegExp(`^v${major}\\.`));
}

async function install(project: Project): Promise<void> {
  project.write({ 'package.json': '{ "private": true }\n' });
  await project.run('npm', ['install', '--no-audit', '--no-fund', ...TARBALLS, ...BESIDE]);
  copyExample(project);
}

async function step(name: string, work: () => Promise<void>): Promise<void> {
  const from = performance.now();
  await work();
  console.log(`✔ ${name} (${((performance.now() - from) / 1_000).toFixed(1)} s)`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
