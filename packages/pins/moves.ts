/** The new texts of the files in which pins move. */
import { type Edit, withEdits } from './edits.ts';
import type { Pin, Place, SourceFile } from './pin.ts';
import { type Row, wheelLike } from './plan.ts';
import type { Registries, Wheel } from './registries.ts';
import { sizesInWheel } from './wheel-directory.ts';

/** A pin that moves: its version, or what its tag points at. */
export interface Move {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** What `movesOf` has found. */
export interface Moved {
  readonly moves: readonly Move[];
  /** Only the files that change. */
  readonly files: readonly SourceFile[];
}

const WHEELS = 'libtensorflow/src/fetch/pinned-wheel.ts';
const RUNTIME = 'nvidia-cuda-runtime-cu12';
const CUDA_FILE = 'lib/serving-image.ts';

/** What moves, and the texts. @throws Error if a digest or a wheel cannot be looked up */
export async function movesOf(
  rows: readonly Row[],
  files: readonly SourceFile[],
  registries: Registries,
): Promise<Moved> {
  const moves: Move[] = [];
  const edits = new Map<string, Edit[]>();
  const add = (file: string, edit: Edit) => edits.set(file, [...(edits.get(file) ?? []), edit]);
  for (const row of rows) {
    const { name, version } = row.pin;
    if (row.unreachable !== undefined) continue;
    if (row.target !== undefined) moves.push({ name, from: version, to: row.target });
    for (const place of row.pin.places) {
      const text = await textOf(place, row, registries);
      if (text === undefined) continue;
      if (place.role.is === 'digest' && row.target === undefined)
        moves.push(digestMove(row.pin, place, text));
      add(place.file, { start: place.start, end: place.end, text });
    }
  }
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  for (const edit of await sizeEdits(rows, texts.get(WHEELS) ?? '')) add(WHEELS, edit);
  const cuda = cudaEdit(rows, texts.get(CUDA_FILE) ?? '');
  if (cuda) add(CUDA_FILE, cuda);
  const changed = [...edits].map(([path, list]) => ({
    path,
    text: withEdits(texts.get(path) ?? '', list),
  }));
  return { moves, files: changed };
}

function digestMove({ name }: Pin, { role }: Place, text: string): Move {
  const [tag, digest] = role.is === 'digest' ? [role.tag, role.digest] : [];
  return { name: `${name}:${tag}`, from: digest ?? 'its tag', to: text.slice(1) };
}

/** What stands in a place from now on; undefined if it stays. */
async function textOf(
  { role }: Place,
  row: Row,
  registries: Registries,
): Promise<string | undefined> {
  const { pin, target, wheels } = row;
  switch (role.is) {
    case 'version':
      return target;
    case 'hash':
      return (
        target &&
        requireWheel(wheelLike(wheels, pin.version, role.hash, target), pin, target).sha256
      );
    case 'digest': {
      const tag = target ? role.tag.replace(pin.version, target) : role.tag;
      const digest = await registries.digest(pin.name, tag);
      return digest === role.digest ? undefined : `@${digest}`;
    }
    case 'derived':
      return undefined;
  }
}

function requireWheel(wheel: Wheel | undefined, { name }: Pin, version: string): Wheel {
  if (wheel) return wheel;
  throw new Error(
    `PyPI has no wheel of ${name} ${version} for a platform that is pinned. Leave ${name} where it is.`,
  );
}

/** Hashes and sizes in `pinned-wheel.ts`: of the wheels, and of the libraries in them. */
async function sizeEdits(rows: readonly Row[], text: string): Promise<Edit[]> {
  const edits: Edit[] = [];
  const entry =
    /package: '(?<name>[\w-]+)'.*?platform: '(?<platform>\w+)',\s+sha256: '(?<hash>\w+)',\s+bytes: (?<bytes>[\d_]+),\s+libraries: \[(?<libraries>.*?)\]/dgs;
  for (const { groups = {}, indices } of text.matchAll(entry)) {
    const { name = '', hash = '', libraries = '' } = groups;
    const row = rows.find(({ pin }) => pin.kind === 'pypi' && pin.name === name);
    if (row?.target === undefined) continue;
    const wheel = requireWheel(
      wheelLike(row.wheels, row.pin.version, hash, row.target),
      row.pin,
      row.target,
    );
    const edit = (group: string, to: string) => {
      const [start, end] = indices?.groups?.[group] ?? [0, 0];
      edits.push({ start, end, text: to });
    };
    edit(
      'platform',
      wheel.filename
        .replace(/\.whl$/, '')
        .split('-')
        .at(-1)
        ?.split('.')[0] ?? '',
    );
    edit('hash', wheel.sha256);
    edit('bytes', withUnderscores(wheel.bytes));
    const sizes = await sizesInWheel(wheel.url, wheel.bytes);
    edit(
      'libraries',
      libraries.replace(/entry: '([^']+)', bytes: [\d_]+/g, (_, path: string) => {
        const size = sizes.get(path);
        if (size === undefined)
          throw new Error(`${wheel.filename} has no ${path}. Look where its library is now.`);
        return `entry: '${path}', bytes: ${withUnderscores(size)}`;
      }),
    );
  }
  return edits;
}

const withUnderscores = (size: number) => String(size).replace(/\B(?=(\d{3})+$)/g, '_');

/** The constructs choose the host's driver by the CUDA that the image has. */
function cudaEdit(rows: readonly Row[], text: string): Edit | undefined {
  const target = rows.find(({ pin }) => pin.name === RUNTIME)?.target;
  const [, before = '', cuda = ''] = /(IN_PROCESS_CUDA = ')([\d.]+)'/.exec(text) ?? [];
  if (target === undefined || cuda === '') return undefined;
  const start = text.indexOf(before) + before.length;
  return { start, end: start + cuda.length, text: target.split('.').slice(0, 2).join('.') };
}
