/**
 * `npm run test:installed`: the packages as users have them, installed from their tarballs in an empty directory.
 * `--keep` leaves the directory, and `--in DIR` works in one that was left, as it is; `--node 24` runs all of it with that
 * Node, from the registry. Names, as in `npm run test:installed -- types client`, run those parts alone.
 */
import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkApp, checkDeploy } from './app.ts';
import { checkAws } from './aws.ts';
import { checkBrowser } from './browser.ts';
import { checkClient } from './client.ts';
import { checkCommand } from './command.ts';
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
  packages: checkPackages,
  types: checkTypes,
  'old-node': checkOldNode,
  client: checkClient,
  browser: checkBrowser,
  command: checkCommand,
  aws: checkAws,
  app: checkApp,
  deploy: checkDeploy,
  projects: checkProjects,
  'ten-minutes': checkTenMinutes,
};

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      keep: { type: 'boolean' },
      in: { type: 'string' },
      node: { type: 'string' },
    },
    allowPositionals: true,
  });
  const project = projectIn(values.in);
  try {
    const { node } = values;
    if (node !== undefined) await step(`Node ${node}`, () => takeNode(project, node));
    if (values.in === undefined) await step('install', () => install(project));
    for (const [name, check] of Object.entries(PARTS)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue;
      await step(name, () => check(project));
    }
  } finally {
    if (values.keep || values.in) console.log(project.directory);
    else project.remove();
  }
}

/** The `node` program of a major version, from the package of it for this machine. */
async function takeNode(project: Project, major: string): Promise<void> {
  const folder = join(project.directory, '..', `${basename(project.directory)}-node`);
  const name = `node-${process.platform}-${process.arch}`;
  await project.run('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--prefix',
    folder,
    `${name}@${major}`,
  ]);
  project.useNode(join(folder, 'node_modules', name, 'bin'));
  const { stdout } = await project.run('node', ['--version']);
  assert.match(stdout, new RegExp(`^v${major}\\.`));
}

async function install(project: Project): Promise<void> {
  project.write({ 'package.json': '{ "private": true }\n' });
  await project.run('npm', ['install', '--no-audit', '--no-fund', ...TARBALLS, ...BESIDE]);
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
