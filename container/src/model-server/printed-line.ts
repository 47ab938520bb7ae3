/** What a line of TensorFlow Serving's output is, by its form. A request can hold a line of this form, too. */

const LEVELS = { I: 'info', W: 'warn', E: 'error', F: 'error' } as const;

/** Severities that it prints, and we log. */
export type Level = (typeof LEVELS)[keyof typeof LEVELS];

/** A line of TensorFlow's own log. */
export interface LogLine {
  readonly level: Level;
  /** Whether the program aborts with it. */
  readonly isFatal: boolean;
  /** Source file and line number. */
  readonly at: string;
  readonly text: string;
}

/** `2026-01-01 12:00:00.000000: I path/file.cc:12] text`, and `I0101 12:00:00.000000 1234 file.cc:12] text`. */
const FORM =
  /^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,9}: (?=([IWEF]) )\w|(?=([IWEF])\d)\w\d{4} \d\d:\d\d:\d{1,12}\.\d{1,9} +\d{1,12}) ([\w./+-]{1,100}(?::\d{1,6})?)\] ?(.*)$/s;
/** All that may differ in it are names and versions of models. */
const SERVABLE =
  /^(?:Successfully reserved resources to load servable|(?:Approving load for|Loading|Successfully loaded|Quiescing|Done quiescing|Unloading|Unloading just-loaded|Done unloading) servable version) \{name: [\w.-]{1,64} version: \d{1,19}\}$/;
const TERMINATE = /^terminate called (?:after throwing|without an active)/;
/** What follows a last word. */
const TRACE = /^(?:\s|\*\*\* |@ |what\(\))/;
/** C++ aborts as well if an allocation fails. */
const SHORTAGE =
  /^(?:Failed to start server\. Error: )?(?:terminate called after throwing an instance of 'std::bad_alloc'|std::bad_alloc|RESOURCE_EXHAUSTED|Resource exhausted|Cannot allocate memory|Out of memory)/i;
/** What the program says without the form of its log, at its start alone. */
const OWN_ERROR = /^(?:Failed to start server\.|Couldn't interpret value )/;

/** Undefined for what has no such form, such as text with a line break in it from its second line on. */
export function logLine(line: string): LogLine | undefined {
  const [, one, other, at = '', text = ''] = FORM.exec(line) ?? [];
  const letter = (one ?? other) as keyof typeof LEVELS | undefined;
  return letter && { level: LEVELS[letter], isFatal: letter === 'F', at, text };
}

/** The severity of a line while it starts. */
export function levelOf(line: string): Level {
  if (OWN_ERROR.test(line)) return 'error';
  if (line.startsWith('unknown argument: ')) return 'warn';
  return logLine(line)?.level ?? 'info';
}

/** Whether a line tells of a model that comes or goes, and of nothing else. */
export function isOfServable({ text }: LogLine): boolean {
  return SERVABLE.test(text);
}

/** Why a program aborts, where its output ends with that: nothing but a stack trace may follow, as a request may forge it. */
export function lastWord(lines: readonly string[]): string | undefined {
  const last = lines.findLast((line) => line !== '' && !TRACE.test(line));
  if (last === undefined) return undefined;
  return (logLine(last)?.isFatal ?? TERMINATE.test(last)) ? last : undefined;
}

/** Whether a line begins with the words of a lack of memory. */
export function tellsShortage(line: string): boolean {
  return SHORTAGE.test(logLine(line)?.text ?? line);
}
