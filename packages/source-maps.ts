/**
 * Source maps of what is published: this project's sources inside, those of others by name only. A file of others'
 * code alone has no map.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

interface SourceMap {
  sources: string[];
  sourcesContent?: (string | null)[];
}

const isOurs = (source: string): boolean => !source.includes('node_modules/');

/** Rewrites the maps of a folder, if it is there; paths become those of the repository. */
export function shortenSourceMaps(folder: string, root: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.map')) continue;
    const file = join(folder, name);
    const map = JSON.parse(readFileSync(file, 'utf8')) as SourceMap;
    if (map.sources.some(isOurs)) writeFileSync(file, JSON.stringify(shortened(map, file, root)));
    else removeMap(file);
  }
}

function shortened(map: SourceMap, file: string, root: string): SourceMap {
  const { sources, sourcesContent = [] } = map;
  return {
    ...map,
    sources: sources.map((source) => relative(root, resolve(dirname(file), source))),
    sourcesContent: sourcesContent.map((text, i) => (isOurs(sources[i] ?? '') ? text : null)),
  };
}

/** Removes a map, and the comment that names it at the end of its file. */
function removeMap(file: string): void {
  const program = file.replace(/\.map$/, '');
  const text = readFileSync(program, 'utf8');
  writeFileSync(program, text.replace(/\n\/\/# sourceMappingURL=[^\n]*\n*$/, '\n'));
  rmSync(file);
}
