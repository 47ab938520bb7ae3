/** Who builds the image of the rehearsal, from which bases, and where it is pushed to. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { buildah } from '../image/buildah.ts';
import { makeStandInBase, STAND_IN_BASE } from '../image/stand-in-base.ts';
import { type Registry, startRegistry } from './registry.ts';

/** What builds images on this machine. */
export interface ImageBuilder {
  /** `none` checks the CDK's calls and builds nothing. */
  readonly program: 'buildah' | 'docker' | 'none';
  /** Build arguments for the app's configuration. */
  readonly buildArgs: Readonly<Record<string, string>>;
  /** Where the images are afterwards; undefined if they are not pushed. */
  readonly registry: Registry | undefined;
  /** Removes what was built. */
  stop(): Promise<void>;
}

/**
 * Docker where its engine runs, else buildah, which needs no engine: as REHEARSE_BUILDER says, or else what
 * is here. buildah builds on a stand-in for the public bases, which are not in a registry it can reach.
 */
export async function startImageBuilder(): Promise<ImageBuilder> {
  const program = programHere();
  process.env.REHEARSE_BUILDER = program;
  if (program === 'none') {
    console.log(
      'No image is built. That takes a Docker engine, or buildah and debootstrap, and root.',
    );
    return { program, buildArgs: {}, registry: undefined, stop: async () => undefined };
  }
  if (program === 'buildah') await makeStandInBase(resolve('.'));
  const registry = await startRegistry();
  if (!registry) console.log('The image is built but not pushed: no docker-registry is here.');
  process.env.REHEARSE_REGISTRY = registry?.address ?? '';
  // Not the user's own: the CDK logs in with credentials that mean nothing.
  process.env.REGISTRY_AUTH_FILE = resolve('.cache', 'rehearse', 'registry-auth.json');
  process.env.DOCKER_CONFIG = resolve('.cache', 'rehearse', 'docker');
  if (program === 'buildah') await removeBuilt();
  const bases = ['TFS_BASE', 'NODE_BASE', 'PYTHON_BASE'];
  return {
    program,
    buildArgs:
      program === 'buildah' ? Object.fromEntries(bases.map((name) => [name, STAND_IN_BASE])) : {},
    registry,
    async stop() {
      if (program === 'buildah') await removeBuilt();
      await registry?.stop();
    },
  };
}

function programHere(): ImageBuilder['program'] {
  const wanted = process.env.REHEARSE_BUILDER;
  if (wanted === 'buildah' || wanted === 'docker' || wanted === 'none') return wanted;
  if (wanted) throw new Error(`REHEARSE_BUILDER is '${wanted}': write buildah, docker or none`);
  const works = (tool: string, arg: string) =>
    spawnSync(tool, [arg], { stdio: 'ignore' }).status === 0;
  if (works('docker', 'info')) return 'docker';
  // Without an engine or namespaces, it takes root.
  const root = process.getuid?.() === 0;
  const tools = ['buildah', 'debootstrap'].every((tool) => works(tool, '--version'));
  return root && tools ? 'buildah' : 'none';
}

/** So that every rehearsal builds, and leaves nothing behind. */
async function removeBuilt(): Promise<void> {
  const { stdout } = await buildah(['images', '--format', '{{.Name}}:{{.Tag}}']);
  const built = String(stdout)
    .split('\n')
    .filter((name) => /\/cdkasset-|\/cdk-\w+-container-assets-/.test(name));
  if (built.length > 0) await buildah(['rmi', '--force', ...built]);
}
