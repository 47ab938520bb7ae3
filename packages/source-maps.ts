/** Source maps of what is published: this project's sources inside, those of others by name only. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

interface SourceMap {
  sources: string[];
  sourcesContent?: (string | null)[];
}

/** Rewrites the maps of a folder, if it is there; paths become those of the repository. */
export function shortenSourceMaps(folder: string, root: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.map')) continue;
    const file = join(folder, name);
    const map = JSON.parse(readFileSync(file, 'utf8')) as SourceMap;
    const isOurs = map.sources.map((source) => !source.includes('node_modules/'));
    map.sources = map.sources.map((source) => relative(root, resolve(dirname(file), source)));
    map.sourcesContent = (map.sourcesContent ?? []).map((text, i) => (isOurs[i] ? text : null));
    writeFileSync(file, JSON.stringify(map));
  }
}
