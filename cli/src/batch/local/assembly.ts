/** The output of an object that was cut into several requests: the answers in the order of its records. */
import type { AssembleWith } from '@sagemaker-tfs/batch';
import { type OutputFile, type OutputFolder, OutputRefused } from './outputs.ts';
import type { Payload } from './records.ts';
import type { RequestFailure, RuntimeClient } from './runtime-client.ts';

/** Record numbers that a message names. */
const NAMED = 5;
const NEWLINE = Uint8Array.of(0x0a);

/** An object under way. */
interface Assembly {
  /** A task that sends one payload; the payloads' order is the order of the calls. */
  add(payload: Payload): () => Promise<void>;
  /**
   * Waits for what was added; puts the output in place where every request was answered.
   * @param problem why the object could not be read to its end
   */
  finish(problem?: string): Promise<RequestFailure | undefined>;
}

/** A request that has no answer, and the records that it held. */
type FailedPayload = RequestFailure & Pick<Payload, 'first' | 'count'>;

/** Starts an object. An answer is kept in memory only until those before it are written. */
export function assemble(
  client: RuntimeClient,
  outputs: OutputFolder,
  key: string,
  settings: { readonly assembleWith: AssembleWith; readonly maxBytes: number },
): Assembly {
  const failures: FailedPayload[] = [];
  let file: Promise<OutputFile> | undefined;
  let tail: Promise<void> = Promise.resolve();
  const open = () => {
    file ??= outputs.open(key);
    return file;
  };

  const answerTo = async ({ body }: Payload): Promise<Uint8Array[] | RequestFailure> => {
    if (settings.maxBytes > 0 && body.byteLength > settings.maxBytes) {
      return { status: undefined, message: overLimit(body.byteLength, settings.maxBytes) };
    }
    let chunks: Uint8Array[] = [];
    const failure = await client.send(body, async (answer) => {
      chunks = [];
      for await (const chunk of answer) chunks.push(chunk);
    });
    return failure ?? chunks;
  };

  return {
    add(payload) {
      const before = tail;
      let written: () => void = () => undefined;
      tail = new Promise((resolve) => {
        written = resolve;
      });
      return async () => {
        try {
          const answer = await answerTo(payload);
          await before;
          if (!Array.isArray(answer))
            failures.push({ ...answer, first: payload.first, count: payload.count });
          if (!Array.isArray(answer) || failures.length > 0) return;
          const output = await open();
          for (const chunk of answer) await output.write(chunk);
          if (settings.assembleWith === 'Line') await output.write(NEWLINE);
        } finally {
          written();
        }
      };
    },
    async finish(problem) {
      await tail;
      const failure = problem ? { status: undefined, message: problem } : describe(failures);
      if (failure) {
        await (await file)?.discard();
        return failure;
      }
      return commit(await open());
    },
  };
}

/** Puts an output in place; a name that the folder cannot have is the input's failure. */
export async function commit(output: OutputFile): Promise<RequestFailure | undefined> {
  try {
    await output.commit();
    return undefined;
  } catch (error) {
    await output.discard();
    if (!(error instanceof OutputRefused)) throw error;
    return { status: undefined, message: error.message };
  }
}

/** Message about a payload that is too large. */
export function overLimit(bytes: number, maxBytes: number): string {
  return `${bytes} bytes are over MaxPayloadInMB (${maxBytes / 1024 / 1024})`;
}

function describe(failures: readonly FailedPayload[]): RequestFailure | undefined {
  const [cause] = failures;
  if (!cause) return undefined;
  const named = failures
    .slice(0, NAMED)
    .map(({ first, count }) => (count === 1 ? first : `${first} to ${first + count - 1}`));
  const more = failures.length > NAMED ? ` and ${failures.length - NAMED} more` : '';
  const areMany = failures.some(({ count }) => count > 1);
  const word = areMany ? 'records' : 'record';
  // Whoever answered counts the records of its request.
  const within = cause.count > 1 && cause.first > 0;
  const counted = within ? `; numbers in the reason begin at record ${cause.first}` : '';
  const message = `${word} ${named.join(', ')}${more} (from 0${counted}): ${cause.message}`;
  return { status: cause.status, message };
}
