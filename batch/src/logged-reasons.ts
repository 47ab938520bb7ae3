/** Reasons of single inputs, from the lines that SageMaker's agent logs: `BUCKET/KEY: TEXT`. */

/** Why an input has no output. */
export interface LoggedReason {
  /** The runtime's code, such as `IMAGE_UNREADABLE`. */
  readonly code?: string;
  /** Of the container's answer. */
  readonly status?: number;
  readonly reason: string;
}

/** Characters of the longest key with its bucket. */
const MAX_PLACE = 63 + 1 + 1_024;
/** Characters that are kept of an answer. */
const MAX_TEXT = 2_000;
const MAX_REASON = 500;
/** Begins what is said of an answer: `ClientError: 400`. Then comes `Message:`, and the answer. */
const HEADING = /^([^{}"]{1,80}): ([1-5]\d\d)$/;
const BODY = 'Message:';

/** What is said of one input. */
interface Said {
  status?: number;
  text: string;
  /** True once the next try, or another record of the input, is spoken of. */
  isWhole: boolean;
}

/**
 * Finds what the lines say about some keys.
 * @param prefix S3 URI that the keys are below
 */
export function loggedReasons(
  lines: readonly string[],
  prefix: string,
  keys: ReadonlySet<string>,
): Map<string, LoggedReason> {
  const below = prefix.replace(/^s3:\/\//, '');
  const all = new Map<string, Said>();
  for (const line of lines) {
    if (!line.startsWith(below)) continue;
    const rest = line.slice(below.length);
    const key = keyOf(rest, keys);
    if (key === undefined) continue;
    const said = all.get(key) ?? { text: '', isWhole: false };
    all.set(key, said);
    hear(said, rest.slice(key.length + 2));
  }
  return new Map([...all].flatMap(([key, said]) => reasonOf(key, said)));
}

/** The longest of the keys that a line begins with: keys may hold `: `, too. */
function keyOf(line: string, keys: ReadonlySet<string>): string | undefined {
  let found: string | undefined;
  for (let at = line.indexOf(': '); at >= 0 && at <= MAX_PLACE; at = line.indexOf(': ', at + 1)) {
    const key = line.slice(0, at);
    if (keys.has(key)) found = key;
  }
  return found;
}

function hear(said: Said, text: string): void {
  const [, , status] = HEADING.exec(text) ?? [];
  if (status !== undefined && said.status !== undefined) said.isWhole = true;
  if (said.isWhole || text.trim() === '') return;
  if (status !== undefined) {
    said.status = Number(status);
    return;
  }
  if (text.trim() === BODY || said.text.length >= MAX_TEXT) return;
  said.text += said.text === '' ? text : `\n${text}`;
}

function reasonOf(key: string, { status, text }: Said): [string, LoggedReason][] {
  if (status === undefined && text === '') return [];
  const known = status === undefined ? {} : { status };
  const answer = ours(text);
  if (answer) return [[key, { ...answer, ...known }]];
  const reason = text === '' ? `the container answered with status ${status}` : text;
  return [[key, { ...known, reason: reason.slice(0, MAX_REASON) }]];
}

/** An answer of this project's runtime. */
function ours(text: string): LoggedReason | undefined {
  try {
    const { error, code } = JSON.parse(text) as { error?: unknown; code?: unknown };
    if (typeof error !== 'string') return undefined;
    const reason = error.slice(0, MAX_REASON);
    return { ...(typeof code === 'string' && { code }), reason };
  } catch {
    return undefined;
  }
}
