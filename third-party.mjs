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
export function bundledPackages(metafiles) {
  const found = new Map();
  for (const { inputs } of metafiles) {
    for (const path of Object.keys(inputs)) {
      const directory = PACKAGE.exec(path)?.[1];
      if (directory === undefined) continue;
      const { name, version, license } = JSON.parse(
        readFileSync(join(directory, 'package.json'), 'utf8'),
      );
      const key = `${name}@${version}`;
      if (!found.has(key)) found.set(key, { name, version, license, texts: licences(directory) });
    }
  }
  return [...found.keys()].sort().map((key) => found.get(key));
}

function licences(directory) {
  return readdirSync(directory)
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map((file) => readFileSync(join(directory, file), 'utf8').trim());
}

/** Writes `third-party.json` and `THIRD-PARTY-LICENSES.txt` beside a bundle. */
export async function writeThirdParty(outdir, ...metafiles) {
  const packages = bundledPackages(metafiles);
  const list = packages.map(({ name, version, license }) => ({ name, version, license }));
  await writeFile(join(outdir, 'third-party.json'), `${JSON.stringify(list, null, 2)}\n`);
  const pages = packages.map(({ name, version, license, texts }) =>
    [`${name} ${version} (${license})`, '', ...texts, ''].join('\n'),
  );
  await writeFile(join(outdir, 'THIRD-PARTY-LICENSES.txt'), pages.join(`\n${'-'.repeat(80)}\n\n`));
}
