/** Documents of JSON that stand side by side, with or without something between. */
import { isJson } from './is-json.ts';

/** The objects and arrays of a text that holds nothing else; undefined for any other text. */
export function jsonDocuments(text: string): string[] | undefined {
  const documents: string[] = [];
  for (let start = firstNonSpace(text, 0); start < text.length; ) {
    const end = endOfDocument(text, start);
    if (end === undefined) return undefined;
    documents.push(text.slice(start, end));
    start = firstNonSpace(text, end);
  }
  return documents.length > 0 && documents.every(isJson) ? documents : undefined;
}

function firstNonSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++;
  return at;
}

/** Strings, and brackets outside them. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/gsy;

/** Text that is neither. */
const BETWEEN = /[^"{}[\]]*/gy;

/** Index behind the object or array at `start`; undefined if there is none, or if it has no end. */
function endOfDocument(text: string, start: number): number | undefined {
  if (text[start] !== '{' && text[start] !== '[') return undefined;
  let depth = 0;
  for (let at = start; at < text.length; ) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return undefined;
    at += token.length;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth === 0) return at;
    BETWEEN.lastIndex = at;
    at += BETWEEN.exec(text)?.[0].length ?? 0;
  }
  return undefined;
}
