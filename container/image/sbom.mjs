/**
 * Prints the image's bill of materials in CycloneDX's JSON: what is bundled, the packages with native code, Node,
 * Debian's or Ubuntu's packages, and TensorFlow. Run while the image is built, in the stage that ships.
 * https://cyclonedx.org/docs/1.6/json/
 *
 *   node image/sbom.mjs tensorflow-serving=2.20.0 > sbom.cdx.json
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

function component({ type = 'library', name, version, license, purl }) {
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    ...(license && { licenses: [{ expression: license }] }),
    purl,
  };
}

/** A name with a scope has its `@` percent-encoded. https://github.com/package-url/purl-spec */
function npm({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return component({ name, version, license, purl });
}

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
      return [npm(readJson(manifest)), ...installed(join(directory, 'node_modules'))];
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
      return component({ name, version, purl });
    });
}

/** `NAME=VERSION` of the arguments. */
function named(argument) {
  const [name, version] = argument.split('=');
  return component({ type: 'application', name, version, purl: `pkg:generic/${name}@${version}` });
}

const node = process.versions.node;
const components = [
  component({ type: 'application', name: 'node', version: node, purl: `pkg:generic/node@${node}` }),
  ...process.argv.slice(2).map(named),
  ...readJson('dist/third-party.json').map(npm),
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
