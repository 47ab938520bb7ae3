/** Verification of an archive with the real runtime behind it. */
import { joinsRequests } from '@sagemaker-tfs/container/environment';
import {
  type RuntimeAnswer,
  type SampleRequest,
  type SampleSource,
  type VerifyReport,
  verifyArchive,
} from '@sagemaker-tfs/model-packaging';
import { CUSTOM_ATTRIBUTES_HEADER, requestValue } from '@sagemaker-tfs/tensors/custom-attributes';
import { CommandError } from '../errors.ts';
import { type RuntimeOptions, startRuntime } from './runtime-process.ts';

/** How {@link verifyWithRuntime} names the archive, is stopped, and tells what a deployment needs. */
interface VerifyWithRuntimeOptions {
  /** Default: the archive's path. */
  readonly name?: string;
  readonly signal?: AbortSignal;
}

/** Loads and runs every signature, then sends the samples (or made-up ones) through runtime and handler. */
export async function verifyWithRuntime(
  archive: string,
  samples: readonly SampleSource[] | undefined,
  { name = archive, signal }: VerifyWithRuntimeOptions = {},
): Promise<VerifyReport> {
  // Its errors come as errors, with what to do; a value that the user set stays.
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '2';
  const report = await verifyArchive(archive, {
    name,
    ...(samples && { samples }),
    // The runtime that answers the samples reads it too.
    batching: joinsRequests(process.env),
    async runThroughRuntime(directory, requests, log) {
      const options = { modelDirectory: directory, source: name, log, ...(signal && { signal }) };
      return runThroughRuntime(options, requests);
    },
  });
  signal?.throwIfAborted();
  requireTried(report);
  return report;
}

/** @throws CommandError NO_SAMPLE if no signature ran and no request was answered */
function requireTried({ archive, versions, requests }: VerifyReport): void {
  const signatures = versions.flatMap((version) => version.signatures);
  const ran = signatures.some(({ firstMs }) => firstMs !== undefined);
  if (ran || requests.some(({ status }) => status < 400)) return;
  const notes = [...signatures, ...requests].map(({ note }) => note).filter((note) => note !== '');
  const reasons = [...new Set(notes)].map((note) => `\n  ${note}`).join('');
  throw new CommandError(
    'NO_SAMPLE',
    `${archive} loads, but nothing of it could be tried. Give a request that clients send with --sample FILE.${reasons}`,
  );
}

async function runThroughRuntime(
  options: RuntimeOptions,
  requests: readonly SampleRequest[],
): Promise<RuntimeAnswer[]> {
  const runtime = await startRuntime(options);
  const answers: RuntimeAnswer[] = [];
  try {
    for (const request of requests) {
      answers.push(await sendSample(runtime.url, request, options.signal));
    }
  } finally {
    await runtime.stop();
  }
  return answers;
}

/** A sample sent to a runtime, and its answer. */
export async function sendSample(
  url: string,
  request: SampleRequest,
  signal: AbortSignal | undefined,
): Promise<RuntimeAnswer> {
  const from = performance.now();
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    headers: {
      'content-type': request.contentType,
      ...(request.accept !== undefined && { accept: request.accept }),
      [CUSTOM_ATTRIBUTES_HEADER]:
        request.customAttributes ?? `tfs-signature=${requestValue(request.signature)}`,
    },
    body: request.body,
    ...(signal && { signal }),
  });
  const body = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    body,
    latencyMs: performance.now() - from,
  };
}
