/**
 * `npm run image:pin`: asks each base image's registry what its tag points at today, and writes the digest behind the
 * tag in the Dockerfile (`node:24-bookworm-slim@sha256:...`). A build then gets the same base until it is run again.
 * With `--check` nothing is written, and the exit status is 1 where a tag has moved or is not pinned.
 * https://distribution.github.io/distribution/spec/api/
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const BASE = /^(ARG [A-Z]+_BASE=)(\S+)$/gm;

/** An index of platforms where the tag has one, so that the digest holds on every machine. */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** `REGISTRY/NAME:TAG[@DIGEST]`. @throws Error where it is not one */
function parseReference(reference) {
  const match =
    /^(?<registry>[^/]+)\/(?<name>[^:@]+):(?<tag>[^@]+)(?:@(?<digest>sha256:[0-9a-f]{64}))?$/.exec(
      reference,
    );
  if (!match)
    throw new Error(`${reference} is not REGISTRY/NAME:TAG. Write it so in the Dockerfile.`);
  return match.groups;
}

/** The registry's API; Docker Hub's has another name than its images. */
function apiOf(registry) {
  const local = /^(localhost|127\.0\.0\.1)(:|$)/.test(registry);
  const host = registry === 'docker.io' ? 'registry-1.docker.io' : registry;
  return `${local ? 'http' : 'https'}://${host}/v2`;
}

/** A token where the registry asks for one, as any client without an account gets it. */
async function authorization(response, name) {
  const challenge = response.headers.get('www-authenticate') ?? '';
  const field = (key) => new RegExp(`${key}="([^"]*)"`).exec(challenge)?.[1];
  const realm = field('realm');
  if (!realm) throw new Error(`${name}: the registry answers 401 and does not say where to log in`);
  const url = new URL(realm);
  url.searchParams.set('service', field('service') ?? '');
  url.searchParams.set('scope', `repository:${name}:pull`);
  const { token } = await (await fetch(url)).json();
  return { Authorization: `Bearer ${token}` };
}

/** What the tag points at. @throws Error where the registry does not say */
async function digestOf({ registry, name, tag }) {
  const url = `${apiOf(registry)}/${name}/manifests/${tag}`;
  const ask = (headers) =>
    fetch(url, { method: 'HEAD', headers: { Accept: MANIFESTS, ...headers } });
  let response = await ask({});
  if (response.status === 401) response = await ask(await authorization(response, name));
  const digest = response.headers.get('docker-content-digest');
  if (response.ok && digest) return digest;
  throw new Error(`${url} answers ${response.status}. Check the name and the tag.`);
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { check: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const file = positionals[0] ?? 'container/Dockerfile';
  let text = readFileSync(file, 'utf8');
  let moved = 0;
  for (const [line, start, reference] of [...text.matchAll(BASE)]) {
    const base = parseReference(reference);
    const digest = await digestOf(base);
    if (digest === base.digest) continue;
    moved += 1;
    const pinned = `${base.registry}/${base.name}:${base.tag}@${digest}`;
    console.log(`${base.name}:${base.tag}  ${base.digest ?? 'not pinned'} -> ${digest}`);
    text = text.replace(line, () => start + pinned);
  }
  if (moved === 0) console.log('Every base image is what its tag points at.');
  else if (values.check) process.exitCode = 1;
  else writeFileSync(file, text);
}

main().catch((error) => {
  const cause = error.cause?.message ? `: ${error.cause.message}` : '';
  console.error(`${error.message}${cause}`);
  process.exitCode = 1;
});
