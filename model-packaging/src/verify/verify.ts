/** Tries a packaged archive out: what loads and answers here loads and answers on SageMaker. */

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { DEFAULT_SIGNATURE, type Signature, type SignatureMap } from '@sagemaker-tfs/tensors';
import { type LayOutResult, layOut, readManifest } from '../archive/lay-out.ts';
import { PackagingError } from '../errors.ts';
import { walk } from '../files/walk.ts';
import { declaredSample } from '../samples/declared-sample.ts';
import { bestOf, madeUpRequests } from '../samples/made-up-requests.ts';
import {
  readSample,
  type Sample,
  type SampleRequest,
  type SampleSource,
} from '../samples/sample-file.ts';
import { readSavedModel, servingGraph } from '../saved-model/saved-model.ts';
import { modelsIn } from '../source/model-source.ts';
import { type Workspace, withWorkspace } from '../source/workspace.ts';
import type { RequestVerification, VerifyReport, VersionVerification } from './report.ts';
import { verifyVersion } from './verify-version.ts';

/** The runtime's answer to a sample. */
export interface RuntimeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly latencyMs: number;
}

/**
 * Starts the serving runtime on a laid-out model, sends the requests one after another, stops it. Rejects
 * where the runtime does not start. Its log goes to the file `log`.
 */
export type RunThroughRuntime = (
  directory: string,
  requests: readonly SampleRequest[],
  log: string,
) => Promise<readonly RuntimeAnswer[]>;

/** How to verify. */
export interface VerifyOptions {
  /** What messages and the report call the archive. Default: its path. */
  readonly name?: string;
  /** Paths of samples, or samples with their media type. Default: synthetic inputs. */
  readonly samples?: readonly SampleSource[];
  /** Without it, the handler is not tried. */
  readonly runThroughRuntime?: RunThroughRuntime;
  /** Runs of each signature after the first, for the median. Default: 5. */
  readonly runs?: number;
  /** Whether requests will be joined: then the notes name signatures whose requests are not. Default: false. */
  readonly batching?: boolean;
}

const DEFAULT_RUNS = 5;

/**
 * Lays the archive out in a temporary folder, or takes one that is laid out, loads every version with TensorFlow
 * (through libtensorflow), runs every signature, then sends samples through the runtime and the handler.
 * @throws PackagingError VERIFY_FAILED with the first thing that does not work and what to do; BAD_SAMPLE
 */
export async function verifyArchive(
  archive: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  return withWorkspace(async (workspace) => {
    const name = options.name ?? archive;
    const { directory, manifest } = await laidOut(archive, workspace);
    workspace.rename(directory, name);
    workspace.rename(archive, name);
    const models = modelsIn({ directory, name: manifest?.models[0]?.name ?? 'model' });
    const [first] = models;
    if (!first)
      throw new PackagingError(
        'NOT_A_SAVED_MODEL',
        'the archive holds no model. Package it again.',
      );
    const newest = first.versions.at(-1)?.directory ?? directory;
    const { signatures } = servingGraph(readSavedModel(newest));
    const target = {
      signatures,
      preprocess: manifest?.preprocess,
      hasHandler: manifest?.handler !== undefined,
    };
    const samples = await Promise.all(
      (options.samples ?? []).map((sample) => readSample(sample, target)),
    );
    const versions: VersionVerification[] = [];
    for (const model of models) {
      for (const source of model.versions) {
        const isNewest = model === first && source === first.versions.at(-1);
        versions.push(
          await verifyVersion({
            ...source,
            model: model.name,
            samples: isNewest ? samples : [],
            runs: options.runs ?? DEFAULT_RUNS,
            batching: options.batching ?? false,
            manifest,
          }),
        );
      }
    }
    const requests = await verifyRequests(directory, {
      log: await workspace.folder('runtime.log'),
      manifest,
      newest,
      signatures,
      samples,
      options,
    });
    const fingerprint = manifest && { fingerprint: manifest.fingerprint };
    return { archive: name, ...fingerprint, versions, requests };
  });
}

async function laidOut(archive: string, workspace: Workspace): Promise<LayOutResult> {
  const found = await stat(archive).catch(() => undefined);
  if (!found?.isDirectory()) return layOut(archive, await workspace.folder('model'));
  const directory = resolve(archive);
  // TensorFlow and the runtime open what lies there; an archive has files only.
  walk(directory);
  return { directory, manifest: await readManifest(directory) };
}

interface RequestContext {
  /** File for the runtime's log. */
  readonly log: string;
  readonly manifest: Manifest | undefined;
  /** Directory of the default model's newest version. */
  readonly newest: string;
  readonly signatures: SignatureMap;
  readonly samples: readonly Sample[];
  readonly options: VerifyOptions;
}

async function verifyRequests(
  directory: string,
  { log, manifest, newest, signatures, samples, options }: RequestContext,
): Promise<RequestVerification[]> {
  if (!options.runThroughRuntime) return [];
  const given = samples.map(({ request }) => request);
  const requests = given.length > 0 ? given : madeUp({ directory, newest, signatures, manifest });
  if (requests.length === 0) return [];
  const answers = await options.runThroughRuntime(directory, requests, log);
  const answered = requests.map((request, i) => {
    const answer = answers[i];
    if (!answer) {
      throw new PackagingError(
        'VERIFY_FAILED',
        `the runtime did not answer ${request.name}. Try it with serve.`,
      );
    }
    return { request, answer };
  });
  const judged = given.length > 0 ? answered : [bestOf(answered)];
  return judged.map(({ request, answer }) => judge(request, answer, manifest?.handler));
}

/** What the handler declares as an example is what clients send; of other requests the one that is read best counts. */
function madeUp({
  directory,
  newest,
  signatures,
  manifest,
}: Pick<RequestContext, 'newest' | 'signatures' | 'manifest'> & {
  readonly directory: string;
}): readonly SampleRequest[] {
  const signature: Signature | undefined =
    signatures[DEFAULT_SIGNATURE] ?? Object.values(signatures)[0];
  if (!signature) return [];
  const own = declaredSample(directory, manifest, signature.key);
  if (own?.name === 'declared') return [own];
  const requests = madeUpRequests(newest, signature, manifest);
  return [...(own ? [own] : []), ...('reason' in requests ? [] : requests)];
}

/** What SageMaker carries of one answer, in bytes. */
const REAL_TIME_BYTES = 25e6;
const SERVERLESS_BYTES = 4e6;

/** What to know of an answer that some endpoints cannot carry; empty for smaller ones. */
function tooLarge(bytes: number): string {
  if (bytes <= SERVERLESS_BYTES) return '';
  const who =
    bytes > REAL_TIME_BYTES
      ? 'a real-time endpoint (25 MB) or a serverless one (4 MB)'
      : 'a serverless endpoint (4 MB)';
  return `the answer has ${(bytes / 1e6).toFixed(1)} MB, more than ${who} carries. Ask for fewer outputs (tfs-outputs), a binary Accept (application/x-npz), or answer less in a handler; batch transform carries 100 MB, an asynchronous endpoint 1 GB.`;
}

/** Characters of an answer that the report shows. */
const PREVIEW = 200;

/** A made-up request may be one that a handler rightly refuses (4xx); a failure (5xx) never is right. */
function judge(
  request: SampleRequest,
  { status, contentType, body, latencyMs }: RuntimeAnswer,
  handler: string | undefined,
): RequestVerification {
  const text = Buffer.from(body).subarray(0, 2000).toString('utf8');
  const isMadeUp = request.name === 'synthetic';
  if (status >= 500 || (status >= 400 && !isMadeUp)) {
    const culprit = handler ? `the runtime with ${handler}` : 'the runtime';
    const what =
      { synthetic: 'the synthetic sample', declared: 'the example that its openapi declares' }[
        request.name
      ] ?? `sample ${request.name}`;
    const advice = isMadeUp
      ? 'If clients send something else, give it with --sample FILE.'
      : 'Correct the sample, or what refuses it.';
    throw new PackagingError(
      'VERIFY_FAILED',
      `${culprit} answered ${what} (${request.contentType}) with status ${status}: ${sentence(text)} ${advice}`,
    );
  }
  const note =
    status >= 400
      ? `a made-up ${request.contentType} request was refused: ${sentence(text)} Give a sample of what clients send.`
      : tooLarge(body.byteLength);
  return {
    sample: request.name,
    contentType: request.contentType,
    status,
    responseType: contentType,
    responseBytes: body.byteLength,
    preview: /json|text|csv/.test(contentType) ? text.slice(0, PREVIEW) : '',
    latencyMs,
    note,
  };
}
