/** What a fetch in parts keeps in its folder, so that another run, or another process, continues with it. */
import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../../../errors.ts';
import { FILE_FORMATS, type FileFormat } from './write-file.ts';

/** Readers of tables leave out what begins so. */
const FOLDER = '_fetch';
const PLAN = join(FOLDER, 'plan.json');
/** Statement that finds its partitions. */
export const PARTITIONS = join(FOLDER, 'partitions.sql');
/** Statement that makes a table of Athena over the files. */
export const TABLE = join(FOLDER, 'table.sql');

const planSchema = z.object({
  from: z.string(),
  format: z.enum(FILE_FORMATS),
  partKeys: z.number(),
  /** Of the metadata that is joined. */
  join: z.string().optional(),
  partitionBy: z.string().optional(),
  ranges: z.array(z.object({ prefix: z.string(), first: z.string().optional() })),
  columns: z
    .array(z.object({ name: z.string(), type: z.enum(['STRING', 'DOUBLE', 'BOOLEAN']) }))
    .optional(),
});

/** What all processes of a fetch agree on. */
export type FetchPlan = z.output<typeof planSchema>;

const progressSchema = z.object({
  parts: z.number(),
  after: z.string().optional(),
  outputs: z.number(),
  answers: z.number(),
  errors: z.number(),
  // Folders of earlier versions count none.
  empty: z.number().default(0),
  done: z.boolean(),
});

/** How far a range of keys is. */
export interface RangeProgress {
  /** Files that are complete. */
  readonly parts: number;
  /** Key of the last object that is in one. */
  readonly after?: string | undefined;
  readonly outputs: number;
  readonly answers: number;
  readonly errors: number;
  readonly empty: number;
  readonly done: boolean;
}

const NOTHING: RangeProgress = {
  parts: 0,
  outputs: 0,
  answers: 0,
  errors: 0,
  empty: 0,
  done: false,
};

/** The plan of a folder; the first process writes it, and every other one takes that. */
export async function agreeOnPlan(
  folder: string,
  wanted: Pick<FetchPlan, 'from' | 'format' | 'partKeys' | 'join' | 'partitionBy'>,
  make: () => Promise<Pick<FetchPlan, 'ranges' | 'columns'>>,
): Promise<FetchPlan> {
  const there =
    (await readPlan(folder)) ?? (await writePlan(folder, { ...wanted, ...(await make()) }));
  const same =
    there.from === wanted.from &&
    there.format === wanted.format &&
    there.partKeys === wanted.partKeys &&
    there.join === wanted.join &&
    there.partitionBy === wanted.partitionBy;
  if (same) return there;
  throw new CommandError(
    'OUTPUT_EXISTS',
    `${folder} holds ${there.from} as ${there.format} in parts of ${there.partKeys} outputs${there.join === wanted.join ? '' : ', with another --join'}${there.partitionBy === wanted.partitionBy ? '' : ', with another --partition-by'}. Give the same again to continue, or another --out.`,
  );
}

async function readPlan(folder: string): Promise<FetchPlan | undefined> {
  const text = await readIfThere(join(folder, PLAN));
  if (text !== undefined) return planSchema.parse(JSON.parse(text));
  const names = await readdir(folder).catch(() => []);
  if (names.every((name) => name === FOLDER)) return undefined;
  throw new CommandError(
    'OUTPUT_EXISTS',
    `${folder} holds other files. Give an empty or a new folder as --out.`,
  );
}

/** Of several processes that write one, the first wins. */
async function writePlan(folder: string, plan: FetchPlan): Promise<FetchPlan> {
  await mkdir(join(folder, FOLDER), { recursive: true });
  const own = join(folder, `${PLAN}.${process.pid}`);
  await writeSynced(own, JSON.stringify(plan));
  try {
    await link(own, join(folder, PLAN));
    return plan;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return planSchema.parse(JSON.parse(await readFile(join(folder, PLAN), 'utf8')));
  } finally {
    await rm(own, { force: true });
  }
}

/** How far a range is; nothing is done if it has not begun. */
export async function readProgress(folder: string, range: number): Promise<RangeProgress> {
  const text = await readIfThere(progressPath(folder, range));
  return text === undefined ? NOTHING : progressSchema.parse(JSON.parse(text));
}

/** Written after the part that it counts, so a part that a killed process has finished may be written again. */
export async function writeProgress(
  folder: string,
  range: number,
  progress: RangeProgress,
): Promise<void> {
  const path = progressPath(folder, range);
  await writeSynced(`${path}.${process.pid}`, JSON.stringify(progress));
  await rename(`${path}.${process.pid}`, path);
}

/** File of a part. */
export function partPath(folder: string, range: number, part: number, format: FileFormat): string {
  return join(folder, partName(range, part, format));
}

/** Name of a part's file; of one that is parted into several, of each in its folder. */
export function partName(range: number, part: number, format: FileFormat): string {
  return `${numbered(range, 5)}-${numbered(part, 6)}.${format}`;
}

/** Folder of files that are not complete. */
export function partialFolder(folder: string): string {
  return join(folder, FOLDER, 'partial');
}

/** Folder of the errors that stand instead of answers; readers of tables leave it out. */
export const LETTERS = '_dead-letters';

/** File of the errors of a part. */
export function lettersPath(folder: string, range: number, part: number): string {
  return join(folder, LETTERS, `${numbered(range, 5)}-${numbered(part, 6)}.ndjson`);
}

function progressPath(folder: string, range: number): string {
  return join(folder, FOLDER, `${numbered(range, 5)}.json`);
}

const numbered = (number: number, digits: number) => String(number).padStart(digits, '0');

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
