/** Each signature of a model asked once, with the example that a handler declares or a made-up request: some models load and then fail at every request. */
import {
  bestOf,
  type RuntimeAnswer,
  type SampleRequest,
  signatureTrials,
} from '@sagemaker-tfs/model-packaging';
import { runtimeError } from './runtime-error.ts';
import { sendSample } from './verify.ts';

const TIMEOUT_MS = 60_000;
/** Characters of an error that are shown. */
const SHOWN = 1_000;

/** What became of a signature. */
interface SignatureTry {
  /** In words. */
  readonly what: string;
  /** False if it was tried and failed. */
  readonly answers: boolean;
}

/** What is to be tried, and how it is named. */
interface TryOptions {
  /** Where the models are laid out. */
  readonly directory: string;
  /** Of the runtime. */
  readonly url: string;
  readonly signal: AbortSignal;
  /** What to call a model. Default: its name. */
  readonly nameOf?: (name: string) => string;
}

/**
 * What a runtime answers for each signature of the newest version of each model. A handler may refuse what is made up, so
 * only what the model says and failures count.
 * @throws PackagingError if there is no model; the signal's reason
 */
export async function trySignatures({
  directory,
  url,
  signal,
  nameOf = (name) => name,
}: TryOptions): Promise<SignatureTry[]> {
  const tries: SignatureTry[] = [];
  for (const { model, signature, requests } of await signatureTrials(directory)) {
    const name = `signature ${signature} of ${nameOf(model)}`;
    if ('reason' in requests) {
      tries.push({ what: `Did not try ${name}: ${requests.reason}`, answers: true });
      continue;
    }
    const attributes = { 'tfs-model-name': model, 'tfs-signature': signature };
    const { says, answers } = await tryOne(url, requests, attributesText(attributes), signal);
    const isDeclared = requests[0]?.name === 'declared';
    const request = isDeclared ? 'the example that its handler declares' : 'a made-up request';
    tries.push({ what: `Tried ${name} with ${request}: ${says}`, answers });
  }
  return tries;
}

function attributesText(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join(',');
}

interface Outcome {
  readonly says: string;
  readonly answers: boolean;
}

async function tryOne(
  url: string,
  requests: readonly SampleRequest[],
  customAttributes: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answered: { readonly answer: RuntimeAnswer }[] = [];
  try {
    for (const request of requests) {
      const answer = await sendSample(url, { ...request, customAttributes }, inTime);
      answered.push({ answer });
      if (answer.status < 400) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    const says = inTime.aborted ? `no answer in ${TIMEOUT_MS / 1000} s` : String(error);
    return { says, answers: false };
  }
  return outcomeOf(bestOf(answered).answer);
}

function outcomeOf({ status, body }: RuntimeAnswer): Outcome {
  if (status < 400) return { says: 'it answers', answers: true };
  const { code, message } = runtimeError(Buffer.from(body).toString('utf8'));
  const text = `HTTP ${status}, ${message.slice(0, SHOWN)}`;
  // A handler or a codec that does not read what was made up tells nothing of the model.
  const isOfModel = status >= 500 || code.startsWith('MODEL_');
  return isOfModel
    ? { says: text, answers: false }
    : { says: `refused before the model, as real requests may not be. ${text}`, answers: true };
}
