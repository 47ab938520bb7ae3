/** The rows of an answer: a request of several records has one for each. */
import { parseJson } from '@sagemaker-tfs/tensors';
import type { Answer } from './answers.ts';
import { csvRows } from './csv-rows.ts';

/**
 * The rows of an answer, each as JSON with the digits that were written: the elements of `predictions`, the records of a
 * text that nobody knows the type of, as if it were CSV, or else the whole answer.
 */
export function rowsOf({ json, isText }: Pick<Answer, 'json' | 'isText'>): readonly string[] {
  const value = parseJson(json);
  if (isText && typeof value === 'string') return csvRows(value) ?? [json];
  const predictions = (value as { predictions?: unknown } | null)?.predictions;
  return Array.isArray(predictions) ? elementsOf(json, predictions.length) : [json];
}

const OPENS = new Set(['{', '[']);
const CLOSES = new Set(['}', ']']);

/** The elements of the member `predictions` of a JSON object; of members of the same name the last counts. */
function elementsOf(json: string, count: number): string[] {
  let elements: string[] = [];
  let [depth, start] = [0, -1];
  let name = '';
  for (let at = 0; at < json.length; at++) {
    const char = json[at] as string;
    if (char === '"') {
      const end = endOfString(json, at);
      if (depth === 1) name = json.slice(at, end + 1);
      at = end;
    } else if (OPENS.has(char)) {
      if (++depth === 2 && char === '[' && JSON.parse(name) === 'predictions') {
        elements = [];
        start = at + 1;
      }
    } else if (CLOSES.has(char) || char === ',') {
      if (start >= 0 && depth === 2) {
        if (count > 0) elements.push(json.slice(start, at).trim());
        start = char === ',' ? at + 1 : -1;
      }
      if (char !== ',') depth--;
    }
  }
  return elements;
}

/** Index of the quote that ends a string. @param at of the one that begins it */
function endOfString(json: string, at: number): number {
  for (let end = json.indexOf('"', at + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
  }
}
