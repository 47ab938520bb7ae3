/** SageMaker's transform jobs over an S3 in memory: the local agent asks our own runtime, and the layout is the test's. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { S3StandIn } from '../../../../../test/stacks/s3-stand-in.ts';
import { runLocalJob } from '../../local/agent.ts';
import { type SageMakerStandIn, startService } from '../sagemaker-stand-in.ts';

/** How jobs are to behave; a well-behaved one is assumed by our code. */
export interface Behavior {
  /** Key of an output below the output prefix. @param root key of the prefix of the inputs */
  outputOf(key: string, root: string): string;
  /** Whether a key of nothing stops the job. */
  readonly deletedStops: boolean;
  /** Bytes of the longest manifest. */
  readonly longestManifest: number;
  /** Whether a failed input takes the outputs of the others. */
  readonly failureStops: boolean;
  /** Whether jobs end by themselves. */
  readonly ends: boolean;
  /** Whether the answer to the first call that makes a job is lost. */
  readonly loses?: boolean;
  /** Whether jobs cannot be looked at. */
  readonly hides?: boolean;
  /** Why the first jobs fail, whatever they are asked. `undefined`: somebody stops the job. */
  readonly failures: readonly (string | undefined)[];
}

/** Arguments of CreateTransformJob, as far as they are used. */
const jobSchema = z.object({
  TransformJobName: z.string(),
  MaxPayloadInMB: z.number(),
  TransformInput: z.object({
    ContentType: z.string(),
    DataSource: z.object({
      S3DataSource: z.object({ S3DataType: z.literal('ManifestFile'), S3Uri: z.string() }),
    }),
  }),
  TransformOutput: z.object({ S3OutputPath: z.string(), Accept: z.string() }),
  TransformResources: z.object({ InstanceType: z.string(), InstanceCount: z.literal(1) }),
});
type Job = z.output<typeof jobSchema>;

/** A SageMaker whose jobs are done by the runtime at `url`. */
export async function startTransforms(
  s3: S3StandIn,
  url: string,
  behavior: Behavior,
): Promise<SageMakerStandIn & { readonly jobs: readonly Job[] }> {
  const jobs: Job[] = [];
  const states = new Map<string, object>();
  const service = await startService((operation, input) => {
    if (operation === 'CreateTransformJob') {
      const job = jobSchema.parse(input);
      if (states.has(job.TransformJobName)) return { __type: 'ResourceInUse' };
      jobs.push(job);
      const name = job.TransformJobName;
      const created = Date.now() / 1_000;
      const told = { ...(input as object), CreationTime: created };
      states.set(name, { ...told, TransformJobStatus: 'InProgress' });
      const end = (failureReason: string | undefined) =>
        states.set(name, {
          ...told,
          ...{ TransformStartTime: created + 480, TransformEndTime: created + 660 },
          TransformJobStatus: failureReason === undefined ? 'Completed' : 'Failed',
          FailureReason: failureReason,
        });
      if (jobs.length <= behavior.failures.length) {
        const reason = behavior.failures[jobs.length - 1];
        if (reason !== undefined) end(reason);
        else states.set(name, { ...told, TransformJobStatus: 'Stopped' });
      } else if (behavior.ends)
        void transform(s3, url, behavior, job).then(end, (e) => end(String(e)));
      return behavior.loses && jobs.length === 1 ? undefined : {};
    }
    const { TransformJobName: name } = input as { TransformJobName: string };
    if (operation === 'StopTransformJob') states.set(name, { TransformJobStatus: 'Stopped' });
    else if (behavior.hides) return { __type: 'AccessDeniedException' };
    return states.get(name) ?? { __type: 'ResourceNotFound' };
  });
  return { ...service, jobs };
}

/** @returns the reason of its failure */
async function transform(
  { objects }: S3StandIn,
  url: string,
  { outputOf, deletedStops, longestManifest, failureStops }: Behavior,
  job: Job,
): Promise<string | undefined> {
  const manifest = objects.get(pathOf(job.TransformInput.DataSource.S3DataSource.S3Uri));
  if (!manifest) return 'no manifest';
  if (manifest.length > longestManifest) return 'the manifest is too long';
  const [{ prefix }, ...keys] = JSON.parse(String(manifest)) as [{ prefix: string }, ...string[]];
  const root = pathOf(prefix);
  const there = keys.filter((key) => objects.has(root + key));
  if (deletedStops && there.length < keys.length) return 'NoSuchKey';
  const work = await mkdtemp(join(tmpdir(), 'transform-'));
  try {
    for (const key of there) {
      await mkdir(dirname(join(work, 'in', key)), { recursive: true });
      await writeFile(join(work, 'in', key), objects.get(root + key) as Buffer);
    }
    const { missing } = await runLocalJob({
      ...{ url, inputDirectory: join(work, 'in'), outputDirectory: join(work, 'out') },
      ...{ contentType: job.TransformInput.ContentType, accept: job.TransformOutput.Accept },
      ...{ maxPayloadInMB: job.MaxPayloadInMB, maxRetries: 0, maxFailurePercent: 100 },
    });
    if (missing > 0 && failureStops) return 'a client error';
    const rootKey = root.slice(root.indexOf('/') + 1);
    const files = await readdir(join(work, 'out'), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.out'))) {
      const key = outputOf(file.slice(0, -'.out'.length), rootKey);
      const path = `${pathOf(job.TransformOutput.S3OutputPath)}${key}`;
      objects.set(path, await readFile(join(work, 'out', file)));
    }
    return missing > 0 ? 'a client error' : undefined;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const pathOf = (uri: string) => uri.replace('s3://', '');
