#!/usr/bin/env node
/**
 * What the CDK calls as `docker`. The builder that REHEARSE_BUILDER names (`buildah`, `docker`) does what it is
 * asked, with the registry at REHEARSE_REGISTRY in ECR's place; with `none` only the calls are checked.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const [verb, ...args] = process.argv.slice(2);
const { REHEARSE_BUILDER: builder, REHEARSE_REGISTRY: registry } = process.env;

/** `ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME` in the registry of the rehearsal. */
const standIn = (image) => `${registry}${image.slice(image.indexOf('/'))}`;

/** Every call that the CDK makes, as the commands that answer it. */
const CALLS = {
  buildah: {
    build: () => [['build', '--isolation', 'chroot', '--format', 'docker', ...args]],
    inspect: ([image]) => [['inspect', '--type', 'image', image]],
    tag: ([from, to]) => [['tag', from, to]],
    login: () => [['login', '--tls-verify=false', ...args.slice(0, -1), registry]],
    push: ([image]) => [
      ['push', '--quiet', '--tls-verify=false', image, `docker://${standIn(image)}`],
    ],
  },
  docker: {
    build: () => [['build', ...args]],
    inspect: ([image]) => [['inspect', image]],
    tag: ([from, to]) => [['tag', from, to]],
    login: () => [['login', ...args.slice(0, -1), registry]],
    push: ([image]) => [
      ['tag', image, standIn(image)],
      ['push', standIn(image)],
    ],
  },
};

function fail(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

function checkOnly() {
  if (verb === 'inspect') process.exit(1);
  if (verb !== 'build') return;
  const context = resolve(args.at(-1));
  const file = args.includes('--file') ? args[args.indexOf('--file') + 1] : 'Dockerfile';
  if (!existsSync(join(context, file))) fail(`no ${file} in ${context}`);
}

if (!CALLS.docker[verb]) fail(`docker ${verb} is not expected here`);
if (builder === 'none') {
  checkOnly();
} else if (registry || !['login', 'push'].includes(verb)) {
  const options = builder === 'buildah' ? ['--storage-driver', 'vfs'] : [];
  for (const command of CALLS[builder][verb](args)) {
    const { status } = spawnSync(builder, [...options, ...command], { stdio: 'inherit' });
    if (status !== 0) process.exit(verb === 'inspect' ? 1 : (status ?? 1));
  }
}
