/** Answers that are written to a connection itself, where there is no request that could be answered. */
import { STATUS_CODES } from 'node:http';
import { type ErrorCode, ServingError } from '../errors.ts';
import { errorReply } from '../http/reply.ts';

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  PROCESS_GONE:
    'the process that had this request ended before it answered, and is started again. The request may be sent again, unless it is what ends the process.',
  SHUTTING_DOWN: 'the container is shutting down. Send the request again.',
  OVERLOADED:
    'more connections are opened than the processes can take. Keep connections open, and send the request again later.',
  MODEL_NOT_READY: 'a process of the runtime is starting. Send the request again.',
};

/** An answer as it is sent; the connection ends after it. */
export function rawReply(code: ErrorCode): Buffer {
  const { status, headers, body } = errorReply(errorOf(code));
  const bytes = Buffer.concat(body);
  const fields = { ...headers, 'Content-Length': bytes.length, Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export function errorOf(code: ErrorCode): ServingError {
  return new ServingError(code, MESSAGES[code] ?? code);
}
