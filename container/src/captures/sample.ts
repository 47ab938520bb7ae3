/** Chooses captures out of more than can be read: evenly over variants and hours. */

/** A file that data capture wrote: a capture a line. SageMaker has a folder for each hour of a variant. */
export interface CaptureFile {
  readonly name: string;
  readonly size: number;
  read(): Promise<string>;
}

/** A line of a file, a capture if it is valid. */
interface CaptureLine {
  readonly text: string;
  readonly file: string;
  /** From 1. */
  readonly number: number;
}

/** How much of the captures was looked at. */
export interface Coverage {
  readonly captures: number;
  /** Captures that are there: by the bytes that were read, if not `exact`. */
  readonly of: number;
  readonly exact: boolean;
  /** Folders: an hour of a variant each. */
  readonly hours: number;
  readonly ofHours: number;
}

/** Which lines to choose. */
interface Choice {
  /** Lines at most. */
  readonly max: number;
  /**
   * Takes the first lines of each hour: two variants that answered the same requests then show the same ones.
   * @default false - lines from all over the hour
   */
  readonly inOrder?: boolean | undefined;
}

/** Lines that are taken of a file at least, so that few files are read. */
const MIN_LINES = 10;
/** Multiples of it, without their whole part, spread evenly over 0 to 1 however many there are, and repeat no pattern. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Chooses lines of `files`; each file is read once, and one at a time. */
export function sampleOf(
  files: readonly CaptureFile[],
  { max, inOrder = false }: Choice,
): { lines(): AsyncGenerator<CaptureLine>; coverage(): Coverage } {
  const folders = foldersOf(files);
  const read = { files: 0, bytes: 0, lines: 0, taken: 0, folders: 0 };

  async function* linesOf(folder: readonly CaptureFile[], quota: number) {
    const ordered = inOrder ? folder : spread(folder);
    let left = quota;
    for (const [i, file] of ordered.entries()) {
      if (left <= 0) return;
      const lines = (await file.read()).split('\n');
      const full = [...lines.keys()].filter((at) => lines[at]?.trim() !== '');
      const share = Math.max(MIN_LINES, Math.ceil(left / (ordered.length - i)));
      const count = Math.min(full.length, left, inOrder ? left : share);
      read.files++;
      read.bytes += file.size;
      read.lines += full.length;
      left -= count;
      for (let j = 0; j < count; j++) {
        // At no fixed distance: requests may repeat a pattern, as several callers in turn do.
        const place = j + ((j * GOLDEN) % 1);
        const at = full[inOrder ? j : Math.floor((place * full.length) / count)] as number;
        read.taken++;
        yield { text: lines[at] as string, file: file.name, number: at + 1 };
      }
    }
  }

  async function* lines() {
    // Small ones first: what they lack goes to the larger ones.
    const chosen = spread(folders).slice(0, max).sort(bySize);
    for (const [i, folder] of chosen.entries()) {
      const quota = Math.round((max - read.taken) / (chosen.length - i));
      const before = read.taken;
      try {
        yield* linesOf(folder, quota);
      } finally {
        if (read.taken > before) read.folders++;
      }
    }
  }

  return {
    lines,
    coverage() {
      const exact = read.files === files.length;
      const bytes = files.reduce((sum, { size }) => sum + size, 0);
      const of = exact ? read.lines : Math.round((read.lines * bytes) / Math.max(1, read.bytes));
      return {
        captures: read.taken,
        of: Math.max(of, read.taken),
        exact,
        hours: read.folders,
        ofHours: folders.length,
      };
    },
  };
}

/** Files of each folder, in the order of their names. */
function foldersOf(files: readonly CaptureFile[]): CaptureFile[][] {
  const byName = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const folders = new Map<string, CaptureFile[]>();
  for (const file of byName) {
    const folder = file.name.slice(0, file.name.lastIndexOf('/') + 1);
    const others = folders.get(folder);
    if (others) others.push(file);
    else folders.set(folder, [file]);
  }
  return [...folders.values()];
}

/** The same in an order whose every beginning is spread evenly over all. */
function spread<T>(list: readonly T[]): T[] {
  const places = list.map((one, i) => ({ one, place: (i * GOLDEN) % 1 }));
  return places.sort((a, b) => a.place - b.place).map(({ one }) => one);
}

function bySize(one: readonly CaptureFile[], other: readonly CaptureFile[]): number {
  return sizeOf(one) - sizeOf(other);
}

function sizeOf(folder: readonly CaptureFile[]): number {
  return folder.reduce((sum, { size }) => sum + size, 0);
}
