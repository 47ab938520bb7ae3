/**
 * What a bundle holds of other people's packages: their names, versions and licences. A licence asks that its text
 * goes with every copy, and a bill of materials names what npm no longer shows once it is bundled.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENCE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** The packages in a bundle, by name and version. @returns `{ name, version, license, texts }` of each */
function bundledPackages(metafiles) {
  const found = new Map();
  for (const { inputs } of metafiles) {
    for (const path of Object.keys(inputs)) {
      const directory = PACKAGE.exec(path)?.[1];
      if (directory === undefined) continue;
      const { name, version, license } = JSON.parse(
        readFileSync(join(directory, 'package.json'), 'utf8'),
      );
      const key = `${name}@${version}`;
      if (!found.has(key))
        found.set(key, { name, version, license, texts: licences(directory, name, license) });
    }
  }
  return [...found.keys()].sort().map((key) => found.get(key));
}

/** Sources that begin with a licence of their own, by the package's name. */
const LICENSED_SOURCES = { '@bufbuild/protobuf': ['dist/esm/wire/varint.js'] };

/** Apache's licence is this project's own: for packages that name it and leave its text out. */
const APACHE = readFileSync(join(import.meta.dirname, 'LICENSE'), 'utf8').trim();

/** @throws Error where a package comes without the text of its licence, and it is not Apache's */
function licences(directory, name, license) {
  const read = (file) => readFileSync(join(directory, file), 'utf8').trim();
  const texts = readdirSync(directory)
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map(read);
  if (texts.length === 0 && !/Apache-2\.0/.test(license)) {
    throw new Error(`${name} (${license}) comes without the text of its licence`);
  }
  const headers = (LICENSED_SOURCES[name] ?? []).map((file) => firstComment(read(file)));
  return [...(texts.length > 0 ? texts : [APACHE]), ...headers];
}

/** The lines of a source up to the first that is no `//` comment. */
function firstComment(source) {
  const lines = source.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ''))
    .join('\n');
}

/** Writes `third-party.json` and `THIRD-PARTY-LICENSES.txt` beside a bundle. */
export async function writeThirdParty(outdir, ...metafiles) {
  const packages = bundledPackages(metafiles);
  const list = packages.map(({ name, version, license }) => ({ name, version, license }));
  await writeFile(join(outdir, 'third-party.json'), `${JSON.stringify(list, null, 2)}\n`);
  const pages = packages.map(licencePage).join(`\n${'-'.repeat(80)}\n\n`);
  await writeFile(join(outdir, 'THIRD-PARTY-LICENSES.txt'), pages);
}

const licencePage = ({ name, version, license, texts }) =>
  [`${name} ${version} (${license})`, '', ...texts, ''].join('\n');

/** The licences of what a page holds, as an HTML comment. */
export function licenceComment(metafile) {
  const text = bundledPackages([metafile]).map(licencePage).join('\n');
  // Two hyphens may end a comment.
  return `<!--\n${text.replaceAll(/-{2,}/g, '-')}-->`;
}
