/** Manifests of any length, read key by key. */
import { BatchError } from './errors.ts';

/** Longest text between two keys' ends: S3's keys have at most 1,024 bytes, and JSON may write each byte in six. */
const MAX_PENDING = 64 * 1024;

/** A manifest under way. */
export interface ManifestStream {
  /** S3 URI that ends in `/`. */
  readonly prefix: string;
  /** The keys as they are written, repetitions included, many at a time. */
  readonly pages: AsyncIterable<readonly string[]>;
}

/**
 * Reads the prefix of a manifest, and its keys as they are asked for.
 * @param chunks its text in UTF-8
 * @param source where it came from, for the message
 * @throws BatchError MANIFEST_INVALID, also while the keys are read
 */
export async function streamManifest(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): Promise<ManifestStream> {
  const items = itemsOf(chunks, source);
  const { value: first = [] } = await items.next();
  const [head, ...keys] = first;
  const prefix = prefixOf(head, source);
  async function* pages(): AsyncGenerator<readonly string[]> {
    yield keysOf(keys, source);
    for await (const page of items) yield keysOf(page, source);
  }
  return { prefix, pages: pages() };
}

function prefixOf(head: unknown, source: string): string {
  if (typeof head === 'object' && head !== null && 'prefix' in head) {
    const { prefix, ...others } = head;
    if (typeof prefix === 'string' && Object.keys(others).length === 0) return prefix;
  }
  throw invalid(source);
}

function keysOf(items: readonly unknown[], source: string): string[] {
  if (items.every((item) => typeof item === 'string' && item !== '')) return items as string[];
  throw invalid(source);
}

function invalid(source: string, cause?: unknown): BatchError {
  return new BatchError(
    'MANIFEST_INVALID',
    `${source} is not a manifest. Write [{"prefix": "s3://BUCKET/PREFIX/"}, "KEY", ...].`,
    { cause },
  );
}

/** Items of a JSON array, those of each chunk together: cut at commas that stand outside texts and objects. */
async function* itemsOf(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<unknown[], undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pending = '';
  let opened = false;
  let closed = false;
  const parse = (text: string): unknown[] => {
    try {
      return text.trim() === '' ? [] : (JSON.parse(`[${text}]`) as unknown[]);
    } catch (cause) {
      throw invalid(source, cause);
    }
  };
  const text = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch (cause) {
      throw invalid(source, cause);
    }
  };
  for await (const chunk of chunks) {
    pending += text(chunk);
    if (!opened) {
      const start = pending.trimStart();
      if (start === '') continue;
      if (!start.startsWith('[')) throw invalid(source);
      pending = start.slice(1);
      opened = true;
    }
    const cut = lastCut(pending);
    if (cut.closed) closed = true;
    else if (pending.length - cut.at > MAX_PENDING) throw invalid(source);
    if (closed && pending.slice(cut.at + 1).trim() !== '') throw invalid(source);
    if (cut.at > 0) yield parse(pending.slice(0, cut.at));
    pending = closed ? '' : pending.slice(cut.at < 0 ? 0 : cut.at + 1);
  }
  text();
  if (!closed) throw invalid(source, new Error('it ends before its closing bracket'));
  return undefined;
}

/** The last comma between items, or the closing bracket. */
function lastCut(text: string): { at: number; closed: boolean } {
  let at = -1;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22:
        i = endOfText(text, i);
        break;
      case 0x7b:
        depth++;
        break;
      case 0x7d:
        depth--;
        break;
      case 0x2c:
        if (depth === 0) at = i;
        break;
      case 0x5d:
        if (depth === 0) return { at: i, closed: true };
    }
  }
  return { at, closed: false };
}

/** Index of the quotation mark that ends a text, or the end where it is not there yet. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
