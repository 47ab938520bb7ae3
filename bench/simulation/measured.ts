/** What was measured of the serving runtime, for the model. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { modelTimesSchema } from './model-times.ts';

/** Where it is kept. */
const MEASURED_FILE = join(import.meta.dirname, 'measured.json');

const positive = z.number().positive();

const schema = z.strictObject({
  date: z.string(),
  machine: z.string(),
  /** Mean size of a tile. */
  imageBytes: positive,
  /** CPU milliseconds to decode one tile. */
  decodeMs: positive,
  /** CPU milliseconds of the runtime for a request, whatever is in it. */
  requestCpuMs: z.number().min(0),
  /** CPU milliseconds of the runtime for each tile in a request. */
  imageCpuMs: positive,
  /** CPU milliseconds to frame and check one tile as a TFRecord. */
  crcMs: positive,
  /** The model on its instance; without it, the model of `assumptions.ts` is taken. */
  model: modelTimesSchema.optional(),
});

/** Times by machine and date. */
export type Measured = z.output<typeof schema>;

/** Reads the measurements. */
export function readMeasured(): Measured {
  return schema.parse(JSON.parse(readFileSync(MEASURED_FILE, 'utf8')));
}

/** Writes them. */
export async function writeMeasured(measured: Measured): Promise<void> {
  await writeFile(MEASURED_FILE, `${JSON.stringify(measured, null, 2)}\n`);
}
