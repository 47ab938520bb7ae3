/**
 * `X-Amzn-SageMaker-Custom-Attributes`, the one header that SageMaker hands on in both directions: `name=value` with
 * commas between. In values, commas and everything but printable ASCII are percent-encoded. A request encodes percent
 * signs too; an answer does not.
 */

/** The header's name on the wire. */
export const CUSTOM_ATTRIBUTES_HEADER = 'X-Amzn-SageMaker-Custom-Attributes';

/** The attribute of an answer with names and shapes of its outputs. */
export const OUTPUT_SHAPES_ATTRIBUTE = 'tfs-output-shapes';

/** SageMaker's bound, in characters (InvokeEndpoint, CustomAttributes). */
export const MAX_CUSTOM_ATTRIBUTES = 1024;

/** The ways to call a model: the values of `tfs-transport`. */
export const TRANSPORTS = ['grpc', 'rest', 'in-process'] as const;
/** How the model is called. */
export type Transport = (typeof TRANSPORTS)[number];

/** A value as a request's header has it. */
export function requestValue(text: string): string {
  return percentEncoded(text, /[^ -~]|[%,]/gu);
}

/** Names as the value of `tfs-outputs`, with commas between; commas and percent signs of their own are percent-encoded. */
export function listValue(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',');
}

/** The names of such a value, each once. */
export function listNames(value: string): readonly string[] {
  const names = value
    .split(',')
    .map((name) => name.trim().replace(/%2C/gi, ',').replaceAll('%25', '%'));
  return [...new Set(names.filter(Boolean))];
}

/** A value as an answer's header has it. */
export function answerValue(text: string): string {
  return percentEncoded(text, /[^ -~]|,/gu);
}

function percentEncoded(text: string, characters: RegExp): string {
  return text.replace(characters, (character) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

/** Reads an answer's header: values by name, `%2C` and percent-encoded characters beyond ASCII decoded. */
export function parseCustomAttributes(header: string): Readonly<Record<string, string>> {
  const pairs = header
    .split(',')
    .map((pair): [string, string] => {
      const at = pair.indexOf('=');
      if (at < 0) return [pair.trim(), ''];
      return [pair.slice(0, at).trim(), answerText(pair.slice(at + 1).trim())];
    })
    .filter(([name]) => name !== '');
  return Object.fromEntries(pairs);
}

/** A `%` that stands for itself is not encoded in answers, so only what they encode is decoded. */
function answerText(value: string): string {
  return value.replace(/(?:%(?:2C|7F|[0189A-F][0-9A-F]))+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}
