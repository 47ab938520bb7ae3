/** What an output holds: one answer, or one for each record of its input. */
import { isUtf8 } from 'node:buffer';
import { parseJson } from '@sagemaker-tfs/tensors';
import { parseMediaType } from '@sagemaker-tfs/tensors/media-type';
import { csvRows } from './csv-rows.ts';
import { isJson } from './is-json.ts';
import { jsonDocuments } from './json-documents.ts';

/** One answer. */
export interface Answer {
  /** Key of the input. */
  readonly key: string;
  /** Number of the record, from 0, where the output holds several. */
  readonly record?: number;
  /** JSON on one line, as it was written: numbers keep their digits, NaN and infinities stay bare. */
  readonly json: string;
  /** True if it is an error instead of an answer: `{"code", "message"}`. */
  readonly isError?: boolean;
  /** True if the JSON is a string of a whole output that is no JSON, and whose media type nobody knows. */
  readonly isText?: boolean;
  /** True if the output holds nothing but white space, as that of an input without records. */
  readonly isEmpty?: boolean;
}

/**
 * Cuts an output into answers. CSV is one for each of its records. Of any other type, and of none, what the bytes are
 * decides: a JSON document is one, JSON Lines are one each, and so are JSON documents with nothing between. Anything else becomes a JSON string of its text or, for
 * bytes that are no text, `{"base64": "..."}`.
 * @param mediaType of the output, if it is known: cells of CSV may look like JSON
 */
export function answersOf(key: string, bytes: Uint8Array, mediaType?: string): Answer[] {
  if (!isUtf8(bytes)) {
    return [{ key, json: JSON.stringify({ base64: Buffer.from(bytes).toString('base64') }) }];
  }
  const text = Buffer.from(bytes).toString('utf8');
  const rows = mediaType && parseMediaType(mediaType).type === 'text/csv' && csvRows(text);
  if (rows && rows.length > 0) return numbered(key, rows);
  if (isJson(text)) return [{ key, json: onOneLine(text) }];
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length > 1 && lines.every(isJson)) {
    return numbered(
      key,
      lines.map((line) => line.trim()),
    );
  }
  const documents = jsonDocuments(text);
  if (documents) return numbered(key, documents.map(onOneLine));
  const isEmpty = text.trim() === '';
  return [{ key, json: JSON.stringify(text), isText: true, ...(isEmpty && { isEmpty }) }];
}

/** One alone has no number. */
function numbered(key: string, rows: readonly string[]): Answer[] {
  return rows.map((json, record) => (rows.length > 1 ? { key, record, json } : { key, json }));
}

/** Line breaks in JSON stand between tokens only: in strings they are written `\n`. */
function onOneLine(json: string): string {
  return json.replace(/[\r\n]+/g, ' ').trim();
}

/** A line of NDJSON, with its line break: `{"key", "record"?, "output"}`, or `"error"` instead of `"output"`. */
export function answerLine(answer: Answer): string {
  return `${head(answer)}${answer.json}}\n`;
}

function head({ key, record, isError }: Pick<Answer, 'key' | 'record' | 'isError'>): string {
  const number = record === undefined ? '' : `"record":${record},`;
  return `{"key":${JSON.stringify(key)},${number}"${isError ? 'error' : 'output'}":`;
}

/** Reads what {@link answerLine} writes, without its line break; undefined for any other text. */
export function parseAnswerLine(line: string): Answer | undefined {
  if (!isJson(line)) return undefined;
  const { key, record, error } = parseJson(line) as Record<string, unknown>;
  if (typeof key !== 'string' || (record !== undefined && typeof record !== 'number')) {
    return undefined;
  }
  const own = {
    key,
    ...(record !== undefined && { record }),
    ...(error !== undefined && { isError: true }),
  };
  const start = head(own);
  return line.startsWith(start) ? { ...own, json: line.slice(start.length, -1) } : undefined;
}
