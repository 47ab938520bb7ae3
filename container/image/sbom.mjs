/**
 * Prints the image's bill of materials in CycloneDX's JSON: what is bundled, the packages with native code, Node,
 * Debian's or Ubuntu's packages, and TensorFlow. Run while the image is built, in the stage that ships.
 * https://cyclonedx.org/docs/1.6/json/
 *
 *   node image/sbom.mjs tensorflow-cpu=2.21.0=SHA256 > sbom.cdx.json
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** @param license an expression of SPDX's; @param named a licence that has only a name; @param hash `{ alg, content }` */
function component({ type = 'library', name, version, license, named, hash, purl }) {
  const licenses = license
    ? [{ expression: license }]
    : named?.map((it) => ({ license: { name: it } }));
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    ...(hash && { hashes: [hash] }),
    ...(licenses?.length > 0 && { licenses }),
    purl,
  };
}

/** A name with a scope has its `@` percent-encoded. https://github.com/package-url/purl-spec */
function npm({ name, version, license }, integrity) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return component({ name, version, license, hash: hashOf(integrity), purl });
}

/** Of a lockfile's `sha512-BASE64`. */
function hashOf(integrity) {
  const [, base64] = /^sha512-(\S+)/.exec(integrity ?? '') ?? [];
  return base64 && { alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') };
}

const sha256 = (content) => ({ alg: 'SHA-256', content });

/** What npm installed, with the hashes of its archives. */
const LOCK = 'node_modules/.package-lock.json';
const locked = existsSync(LOCK) ? readJson(LOCK).packages : {};

/** Packages in a folder `node_modules`. */
function installed(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => {
      const directory = join(folder, name);
      if (name.startsWith('@')) return installed(directory);
      const manifest = join(directory, 'package.json');
      if (!existsSync(manifest)) return [];
      const { integrity } = locked[directory] ?? {};
      return [npm(readJson(manifest), integrity), ...installed(join(directory, 'node_modules'))];
    });
}

/** Packages of the distribution; none where the base is not made of them. */
function distribution() {
  if (!existsSync('/var/lib/dpkg/status')) return [];
  const id = /^ID=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'debian';
  const format = ['Package', 'Version', 'Architecture'].map((field) => `\${${field}}`).join('\\t');
  const lines = execFileSync('dpkg-query', ['--show', '--showformat', `${format}\\n`], {
    encoding: 'utf8',
  });
  return lines
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
    .map(([name, version, arch]) => {
      const purl = `pkg:deb/${id}/${name}@${encodeURIComponent(version)}?arch=${arch}`;
      return component({ name, version, named: copyrights(name), purl });
    });
}

/** Licences that a package's copyright file names, where it is written for programs. dpkg keeps no hash of an archive. */
function copyrights(name) {
  const file = `/usr/share/doc/${name}/copyright`;
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (!/^Format:/m.test(text)) return [];
  return [...new Set([...text.matchAll(/^License: *(\S.*)$/gm)].map(([, it]) => it.trim()))];
}

/** As their wheels call it. */
const NVIDIA = 'NVIDIA Proprietary Software';

/** `NAME=VERSION` of the arguments, and the SHA-256 of what it was unpacked from: TensorFlow, and NVIDIA's wheels. */
function unpacked(argument) {
  const [name, version, hash] = argument.split('=');
  const isNvidia = name.startsWith('nvidia-');
  const purl = `pkg:${isNvidia ? 'pypi' : 'generic'}/${name}@${version}`;
  return component({
    type: isNvidia ? 'library' : 'application',
    name,
    version,
    ...(isNvidia ? { named: [NVIDIA] } : { license: 'Apache-2.0' }),
    hash: hash && sha256(hash),
    purl,
  });
}

const node = process.versions.node;
/** The one that ships, where another builds. */
const nodeFile = existsSync('shipped-node') ? 'shipped-node' : process.execPath;
const components = [
  component({
    type: 'application',
    name: 'node',
    version: node,
    license: 'MIT',
    hash: sha256(createHash('sha256').update(readFileSync(nodeFile)).digest('hex')),
    purl: `pkg:generic/node@${node}`,
  }),
  ...process.argv.slice(2).map(unpacked),
  ...readJson('dist/third-party.json').map((bundled) => npm(bundled)),
  ...installed('node_modules'),
  ...distribution(),
];
const unique = [...new Map(components.map((item) => [item.purl, item])).values()];
// The same image has the same number: it is made of what it holds, not of the time.
const hash = createHash('sha256').update(JSON.stringify(unique)).digest('hex');
const serial = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5');
const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: `urn:uuid:${serial}`,
  version: 1,
  metadata: { component: { type: 'container', name: 'sagemaker-tfs' } },
  components: unique,
};
process.stdout.write(`${JSON.stringify(bom, null, 1)}\n`);
