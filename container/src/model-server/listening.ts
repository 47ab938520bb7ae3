/**
 * From when a process of TensorFlow Serving is reached: once it has all of its ports. It continues without a REST port that
 * another program has, which would then answer in its place (server.cc).
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { StartError } from '../errors.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import { logLine } from './printed-line.ts';

/** A `sockaddr_un` has 108 bytes on Linux and 104 on macOS. */
const MAX_PATH_BYTES = 103;

/** Its last line before it serves, and the one without a REST port. */
const GRPC_LISTENS = 'Running gRPC ModelServer at UNIX socket';
const REST_LISTENS = 'Exporting HTTP/REST API at';
const REST_REFUSED = 'Failed to start HTTP Server at';

/** Where it makes its socket, which nobody looks for. */
export function startingSocket({ grpcSocket }: ModelServerEndpoint): string {
  return `${grpcSocket}.new`;
}

/** @throws StartError ENVIRONMENT_INVALID if the path is too long */
export function checkSocketPath(endpoint: ModelServerEndpoint): void {
  const excess = Buffer.byteLength(startingSocket(endpoint)) - MAX_PATH_BYTES;
  if (excess <= 0) return;
  throw new StartError(
    'ENVIRONMENT_INVALID',
    `TMPDIR is "${tmpdir()}". A Unix socket below it would have a path of ${excess} bytes too many. Set a shorter one.`,
  );
}

/** What a line that it prints while it starts says of its ports. */
export function portNews(
  line: string,
  { restPort }: ModelServerEndpoint,
): 'listens' | 'refused' | undefined {
  const text = logLine(line)?.text;
  if (text?.startsWith(restPort === 0 ? GRPC_LISTENS : REST_LISTENS)) return 'listens';
  return text?.startsWith(REST_REFUSED) ? 'refused' : undefined;
}

/** Lets it be reached. */
export function openSocket(endpoint: ModelServerEndpoint): void {
  rmSync(whyFile(endpoint), { force: true });
  renameSync(startingSocket(endpoint), endpoint.grpcSocket);
}

/** Its process has ended. */
export function closeSocket(endpoint: ModelServerEndpoint): void {
  rmSync(endpoint.grpcSocket, { force: true });
}

/** Tells all processes of the container why there is no socket. */
export function sayWhyClosed(endpoint: ModelServerEndpoint, reason: string): void {
  try {
    writeFileSync(whyFile(endpoint), reason);
  } catch {
    // The disk may be full; the log has it.
  }
}

/** Why there is no socket, where that was said. */
export function whyClosed(endpoint: ModelServerEndpoint): string | undefined {
  try {
    return readFileSync(whyFile(endpoint), 'utf8');
  } catch {
    return undefined;
  }
}

function whyFile({ grpcSocket }: ModelServerEndpoint): string {
  return `${grpcSocket}.why`;
}
