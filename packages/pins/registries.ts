/** What each registry has of a name: npm, PyPI, registries of images, and GitHub for its actions. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { minVersion, satisfies } from 'semver';
import { digestOf, tagsOf } from './image-registry.ts';
import { satisfiesPython } from './versions.ts';

const exec = promisify(execFile);

/** A file of a release on PyPI. */
export interface Wheel {
  readonly filename: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly url: string;
}

/** What a registry has. */
export interface Available {
  /** All that is published and not withdrawn. */
  readonly versions: readonly string[];
  /** Those of them that run on the oldest Node or the Python here. */
  readonly usable: readonly string[];
  /** PyPI: files by version. */
  readonly wheels?: ReadonlyMap<string, readonly Wheel[]>;
}

/** Looks names up. The tests put others here. */
export interface Registries {
  npm(name: string): Promise<Available>;
  pypi(name: string): Promise<Available>;
  /** Requirements of one release, such as `nvidia-cublas-cu12<13.0,>=12.5.3.2; extra == "and-cuda"`. */
  requirements(name: string, version: string): Promise<readonly string[]>;
  image(name: string, tag: string): Promise<Available>;
  digest(image: string, tag: string): Promise<string>;
  action(name: string): Promise<Available>;
}

async function json(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.json();
}

interface Packument {
  readonly versions: Readonly<
    Record<string, { readonly engines?: { readonly node?: string }; readonly deprecated?: unknown }>
  >;
}

interface Project {
  readonly info: { readonly version: string; readonly requires_dist: readonly string[] | null };
  readonly releases: Readonly<
    Record<
      string,
      readonly {
        readonly filename: string;
        readonly digests: { readonly sha256: string };
        readonly size: number;
        readonly url: string;
        readonly yanked: boolean;
        readonly requires_python: string | null;
      }[]
    >
  >;
}

const PYPI = 'https://pypi.org/pypi';

/** @param node a range such as `>=20.19`: its oldest version must do  @param python such as `3.11` */
export function realRegistries(node: string, python: string): Registries {
  const oldest = minVersion(node)?.version ?? node;
  let npmRegistry: Promise<string> | undefined;
  return {
    async npm(name) {
      npmRegistry ??= exec('npm', ['config', 'get', 'registry']).then(({ stdout }) =>
        stdout.trim(),
      );
      const url = `${(await npmRegistry).replace(/\/?$/, '/')}${name.replace('/', '%2F')}`;
      // The short form of what npm keeps, made for installing.
      const accept = { Accept: 'application/vnd.npm.install-v1+json' };
      const all = Object.entries(((await json(url, accept)) as Packument).versions);
      const kept = all.filter(([, { deprecated }]) => !deprecated);
      const runs = kept.filter(([, { engines }]) => satisfies(oldest, engines?.node ?? '*'));
      return {
        versions: kept.map(([version]) => version),
        usable: runs.map(([version]) => version),
      };
    },
    async pypi(name) {
      const project = `${PYPI}/${name}/json`;
      const { releases } = (await json(project)) as Project;
      const kept = Object.entries(releases)
        .map(([version, files]) => [version, files.filter(({ yanked }) => !yanked)] as const)
        .filter(([, files]) => files.length > 0);
      const runs = kept.filter(([, files]) =>
        files.some(({ requires_python }) => satisfiesPython(python, requires_python ?? '')),
      );
      const wheels = kept.map(([version, files]) => {
        const list = files.map(({ filename, digests: { sha256 }, size: bytes, url }) => ({
          filename,
          sha256,
          bytes,
          // A mirror may write it from its own address on.
          url: new URL(url, project).href,
        }));
        return [version, list] as const;
      });
      return {
        versions: kept.map(([version]) => version),
        usable: runs.map(([version]) => version),
        wheels: new Map(wheels),
      };
    },
    async requirements(name, version) {
      // The newest is in the short form, which every mirror has.
      const newest = (await json(`${PYPI}/${name}/json`)) as Project;
      const its = newest.info.version === version;
      const { info } = its ? newest : ((await json(`${PYPI}/${name}/${version}/json`)) as Project);
      return info.requires_dist ?? [];
    },
    async image(name, tag) {
      const [, suffix = ''] = /^[\d.]+(.*)$/.exec(tag) ?? [];
      const same = (await tagsOf(name))
        .filter((other) => /^\d/.test(other) && other.endsWith(suffix))
        .map((other) => other.slice(0, other.length - suffix.length));
      return { versions: same, usable: same };
    },
    digest: digestOf,
    async action(name) {
      const args = ['ls-remote', '--tags', '--refs', `https://github.com/${name}`];
      const { stdout } = await exec('git', args, {
        env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
      });
      const versions = [...stdout.matchAll(/refs\/tags\/v(\d+)$/gm)].map(
        ([, version = '']) => version,
      );
      return { versions, usable: versions };
    },
  };
}
