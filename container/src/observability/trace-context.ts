/** The caller's span, as W3C writes it: https://www.w3.org/TR/trace-context/ */

/** A span that another one belongs to. */
export interface TraceContext {
  /** 32 lower hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Whether the caller keeps its own part of the trace. */
  readonly sampled: boolean;
  /** What vendors keep beside it; empty if nothing. */
  readonly state: string;
}

/** W3C's bound on what is passed on of `tracestate`, in characters. */
const MAX_STATE = 512;
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads `traceparent` and `tracestate`.
 * @returns undefined for no parent, and for one that is malformed: W3C asks for a new trace then
 */
export function parseTraceParent(parent: string, state = ''): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = PARENT.exec(parent.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, sampled, state: state.length <= MAX_STATE ? state : '' };
}
