/** A handler's answer in full: what makes an object one, and the check before it is sent. */
import type { HandlerResponse } from './api.ts';

const FIELDS = new Set(['body', 'contentType', 'status', 'customAttributes']);

/** @throws Error for an object that is meant as one, as its fields say, but lacks its contentType */
export function isHandlerResponse(value: unknown): value is HandlerResponse {
  if (typeof value !== 'object' || value === null) return false;
  const { body, contentType, status, customAttributes } = value as Partial<HandlerResponse>;
  if (body === undefined) return false;
  if (typeof contentType === 'string') return true;
  const isMeant = typeof status === 'number' || customAttributes !== undefined;
  const fields = Object.keys(value);
  // Without fields of its own it is the Response of fetch, or another class's.
  if (!isMeant || fields.length === 0 || !fields.every((name) => FIELDS.has(name))) return false;
  throw new Error(
    `its response has ${fields.join(', ')}, but no text as contentType. Add contentType: 'application/json', or what the body is; if all of it is the JSON to answer, return it as the body.`,
  );
}

/** A response that can be sent. */
interface CheckedResponse extends HandlerResponse {
  readonly status: number;
}

/** The response with its defaults, each part read once. @throws Error if it cannot be sent */
export function checkedResponse(response: HandlerResponse): CheckedResponse {
  const { body, contentType, status = 200, customAttributes } = response;
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Error(`its response has the status ${status}. It must be from 200 to 599.`);
  }
  if (!HEADER_TEXT.test(contentType)) {
    const shown = JSON.stringify(contentType);
    throw new Error(`its response has the contentType ${shown}, which no header can carry`);
  }
  const attributes = checkedAttributes(customAttributes);
  return { body, contentType, status, ...(attributes && { customAttributes: attributes }) };
}

function checkedAttributes(given: unknown): HandlerResponse['customAttributes'] {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'object' || Symbol.iterator in given) {
    const kind = typeof given === 'object' ? (given.constructor?.name ?? 'object') : typeof given;
    throw new Error(
      `its response has customAttributes of type ${kind}. They are an object of names and texts: { name: 'value' }.`,
    );
  }
  const attributes = { ...given };
  for (const [name, value] of Object.entries(attributes)) {
    if (ATTRIBUTE_NAME.test(name) && typeof value === 'string') continue;
    const shown = JSON.stringify({ [name]: value });
    throw new Error(
      `its response has the customAttributes ${shown}. Names are ASCII without "=", values text.`,
    );
  }
  return attributes as Record<string, string>;
}

/** RFC 9110, section 5.5. */
const HEADER_TEXT = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/;
const ATTRIBUTE_NAME = /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]+$/;
