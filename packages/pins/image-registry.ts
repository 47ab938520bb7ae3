/**
 * What a registry of images says, without an account.
 * https://distribution.github.io/distribution/spec/api/
 */

/** An index of platforms where the tag has one, so that the digest holds on every machine. */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const PAGE = 1000;

/** @param image `REGISTRY/NAME` */
function repositoryOf(image: string): { readonly url: string; readonly name: string } {
  const [registry = '', ...path] = image.split('/');
  const local = /^(localhost|127\.0\.0\.1)(:|$)/.test(registry);
  // Docker Hub's API has another name than its images.
  const host = registry === 'docker.io' ? 'registry-1.docker.io' : registry;
  const name = path.join('/');
  return { url: `${local ? 'http' : 'https'}://${host}/v2/${name}`, name };
}

/** A token where the registry asks for one, as any client without an account gets it. */
async function authorization(response: Response, name: string): Promise<Record<string, string>> {
  const challenge = response.headers.get('www-authenticate') ?? '';
  const field = (key: string) => new RegExp(`${key}="([^"]*)"`).exec(challenge)?.[1];
  const realm = field('realm');
  if (!realm) {
    throw new Error(`${name}: the registry answers 401 and does not say where to log in.`);
  }
  const url = new URL(realm);
  url.searchParams.set('service', field('service') ?? '');
  url.searchParams.set('scope', `repository:${name}:pull`);
  const { token } = (await (await fetch(url)).json()) as { readonly token?: unknown };
  return { Authorization: `Bearer ${String(token)}` };
}

async function ask(url: string, name: string, init: { method: string; Accept?: string }) {
  const { method, ...headers } = init;
  const send = (more: Record<string, string>) =>
    fetch(url, { method, headers: { ...headers, ...more } });
  const response = await send({});
  const answer =
    response.status === 401 ? await send(await authorization(response, name)) : response;
  if (answer.ok) return answer;
  throw new Error(`${url} answers ${answer.status}. Check the name and the tag.`);
}

/** What a tag points at, `sha256:...`. @throws Error if the registry does not say */
export async function digestOf(image: string, tag: string): Promise<string> {
  const { url, name } = repositoryOf(image);
  const at = `${url}/manifests/${tag}`;
  const response = await ask(at, name, { method: 'HEAD', Accept: MANIFESTS });
  const digest = response.headers.get('docker-content-digest');
  if (digest && /^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
  throw new Error(`${at} names no digest. Check the registry.`);
}

/** Every tag of an image. */
export async function tagsOf(image: string): Promise<readonly string[]> {
  const { url, name } = repositoryOf(image);
  const tags: string[] = [];
  let next: string | undefined = `${url}/tags/list?n=${PAGE}`;
  while (next !== undefined) {
    const response: Response = await ask(next, name, { method: 'GET' });
    tags.push(...((await response.json()) as { tags: string[] }).tags);
    const link = /<([^>]+)>;\s*rel="?next/.exec(response.headers.get('link') ?? '')?.[1];
    next = link && new URL(link, next).href;
  }
  return tags;
}
