/** The paths of TensorFlow Serving's REST API (model_servers/http_rest_api_util.cc). */
import { invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import type { ModelSpec } from '../model-manager.ts';

/** What a request asks for. */
export type Route =
  | { readonly kind: 'status' | 'metadata'; readonly spec: ModelSpec }
  | { readonly kind: 'predict' | 'classify' | 'regress'; readonly spec: ModelSpec };

const VERSION = '(?:(?:/versions/(\\d+))|(?:/labels/([^/:]+)))?';
const CALL = new RegExp(`^/v1/models/([^/:]+)${VERSION}:(classify|regress|predict)$`, 'i');
const ABOUT = new RegExp(`^/v1/models(?:/([^/:]+))?${VERSION}(?:/(metadata))?$`, 'i');
const MAX_INT64 = 2n ** 63n - 1n;

/** What libevent reads: the characters of a path, a query and a fragment, and escapes that are whole. */
const CHARACTER = "[\\w\\-.~!$&'()*+,;=:@/]|%[\\da-f]{2}";
const LATER = `(?:${CHARACTER}|\\?)*`;
const URI = new RegExp(`^(?:${CHARACTER})*(?:\\?${LATER})?(?:#${LATER})?$`, 'i');

/** False for what is answered with 400 in HTML, whatever its path. */
export function isUri(path: string): boolean {
  return URI.test(path);
}

/** True for the paths that the API answers at all; others are 404. */
export function isApiPath(path: string): boolean {
  return /^\/v1\/.*$/is.test(path);
}

/**
 * Undefined for a version beyond int64, whose error loses its text (http_rest_api_handler.cc).
 * @throws StatusError INVALID_ARGUMENT for anything that is not part of the API
 */
export function routeOf(method: string, path: string): Route | undefined {
  const malformed = invalidArgument(`Malformed request: ${method} ${path}`);
  const match =
    method === 'POST' ? CALL.exec(path) : method === 'GET' ? ABOUT.exec(path) : undefined;
  if (!match) throw malformed;
  const [, name, version, label, last] = match;
  if (name === undefined) throw invalidArgument('Missing model name in request.');
  const spec = {
    name: decoded(name),
    version: version === undefined ? undefined : BigInt(version),
    label: label === undefined ? undefined : decoded(label),
  };
  if (spec.version !== undefined && spec.version > MAX_INT64) return undefined;
  if (method === 'GET') return { kind: last === undefined ? 'status' : 'metadata', spec };
  if (last === 'predict' || last === 'classify' || last === 'regress') return { kind: last, spec };
  throw malformed;
}

/** As curl_easy_unescape does: the bytes need not be UTF-8. */
function decoded(text: string): string {
  const bytes = text.replace(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}
