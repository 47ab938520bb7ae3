/**
 * What a model takes on its instance, as `sagemaker-tfs tune --json` or `bench --json` measured it, or as given in
 * seconds for each image.
 */
import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';

/** One model on one instance, and who says so. */
export const modelTimesSchema = z.strictObject({
  /** Milliseconds of a batch, whatever is in it. */
  batchMs: z.number().min(0),
  /** Milliseconds of each image in a batch. */
  imageMs: z.number().positive(),
  /** Where: an endpoint, an instance type, a machine. */
  where: z.string().min(1),
  /** ISO date. */
  date: z.string().min(1),
});

/** Times of a model. */
export type ModelTimes = z.output<typeof modelTimesSchema>;

/** A row of `tune`. */
const point = z.object({
  where: z.string(),
  server: z.object({ maxBatchSize: z.number() }).optional(),
  batchSize: z.number().positive(),
  imagesPerSecond: z.number().positive(),
  errors: z.number().default(0),
});
type Point = z.output<typeof point>;

/** What `tune` calls a runtime that it started itself. */
const LOCAL = 'local';

const tuned = z.object({ points: z.array(point).min(1) });
const benched = z.object({
  results: z.array(z.object({ requestsPerSecond: z.number().positive() })).min(1),
});

/**
 * Reads a file of measurements: of `tune`, of `bench`, or the times themselves.
 * @param where measured, if the file does not say it well enough
 * @throws where it is none of these, or does not say where it was measured
 */
export async function readModelTimes(file: string, where?: string): Promise<ModelTimes> {
  const json: unknown = JSON.parse(await readFile(file, 'utf8'));
  const date = (await stat(file)).mtime.toISOString().slice(0, 10);
  const named = (otherwise?: string) => {
    const name = where ?? otherwise;
    if (name !== undefined && name !== LOCAL) return name;
    throw new Error(`${file} does not say on which machine it was measured; give --where`);
  };
  const own = modelTimesSchema.safeParse(json);
  if (own.success) return { ...own.data, where: named(own.data.where) };
  const points = tuned.safeParse(json);
  if (points.success) {
    const times = timesOf(points.data.points);
    return { ...times, date, where: named(times.where) };
  }
  const results = benched.safeParse(json);
  if (results.success) {
    const rate = Math.max(
      ...results.data.results.map(({ requestsPerSecond }) => requestsPerSecond),
    );
    return timesOfRate(1 / rate, named(), date);
  }
  throw new Error(
    `${file} is not of sagemaker-tfs tune --json or bench --json, and not {"batchMs", "imageMs", "where", "date"}`,
  );
}

/** Times of a model from its rate: all of it for each image, none for a batch. */
export function timesOfRate(secondsPerImage: number, where: string, date: string): ModelTimes {
  return modelTimesSchema.parse({ batchMs: 0, imageMs: secondsPerImage * 1_000, where, date });
}

/**
 * The line through the times of requests by their number of images, at the best rate: its slope is an image, its start a
 * batch. Batches that the server made itself are left out where there are others: their size is not known.
 */
export function timesOf(points: readonly Point[]): Omit<ModelTimes, 'date'> {
  const good = points.filter(({ errors }) => errors === 0);
  const plain = good.filter(({ server }) => !server?.maxBatchSize);
  const used = plain.length > 0 ? plain : good;
  const [first] = used;
  if (!first) throw new Error('every setting that was measured had errors');
  const sizes = [...new Set(used.map(({ batchSize }) => batchSize))];
  const times = sizes.map((size) => {
    const rates = used.filter(({ batchSize }) => batchSize === size);
    return { size, ms: (1_000 * size) / Math.max(...rates.map((rate) => rate.imagesPerSecond)) };
  });
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [size, ms] = [mean(sizes), mean(times.map((time) => time.ms))];
  const spread = mean(times.map((time) => (time.size - size) ** 2));
  const slope =
    spread === 0 ? 0 : mean(times.map((time) => (time.size - size) * (time.ms - ms))) / spread;
  const start = ms - slope * size;
  // One size only, or a line that starts below nothing: the images take all of it.
  if (slope <= 0 || start < 0) return { batchMs: 0, imageMs: ms / size, where: first.where };
  return { batchMs: start, imageMs: slope, where: first.where };
}
