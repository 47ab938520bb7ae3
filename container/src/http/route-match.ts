/** Which route answers a request. */
import type { IncomingMessage } from 'node:http';
import { ServingError } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { errorReply, type Reply } from './reply.ts';

/** Answers one method of one path; `params` are the segments that the path's pattern names. */
export type RouteHandler = (
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
) => Reply | Promise<Reply>;

/** Methods by path pattern; `:name` is a parameter: `{ '/models/:name': { GET: ... } }`. */
export type Routes = Readonly<Record<string, Readonly<Record<string, RouteHandler>>>>;

type Methods = Routes[string];

/** Answers requests. */
export type Responder = (exchange: Exchange) => Reply | Promise<Reply>;

/** Routes, ready to be looked up. */
interface CompiledRoutes {
  /** Paths without parameters. */
  readonly plain: ReadonlyMap<string, Methods>;
  readonly patterns: readonly { readonly pattern: RegExp; readonly methods: Methods }[];
}

/** Answers by path and method. */
export function responderOf(routes: Routes): Responder {
  const compiled = compileRoutes(routes);
  return (exchange) => routed(compiled, exchange);
}

function compileRoutes(routes: Routes): CompiledRoutes {
  const all = Object.entries(routes);
  const patterns = all.filter(([path]) => path.includes(':'));
  return {
    plain: new Map(all.filter(([path]) => !path.includes(':'))),
    patterns: patterns.map(([path, methods]) => ({
      pattern: new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
      methods,
    })),
  };
}

/** The path of a request, without its query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** Answers a request by its path and method. @throws ServingError ROUTE_NOT_FOUND, BAD_REQUEST */
function routed(routes: CompiledRoutes, exchange: Exchange): Reply | Promise<Reply> {
  const { method = '' } = exchange.request;
  const path = pathOf(exchange.request);
  const plain = routes.plain.get(path);
  if (plain) return plain[method]?.(exchange, {}) ?? methodRefused(path, method, plain);
  for (const { pattern, methods } of routes.patterns) {
    const match = pattern.exec(path);
    if (!match) continue;
    const handle = methods[method];
    return (
      handle?.(exchange, decodeParams(match.groups ?? {})) ?? methodRefused(path, method, methods)
    );
  }
  throw new ServingError('ROUTE_NOT_FOUND', `there is no ${path} here.`);
}

function methodRefused(path: string, method: string, methods: Methods): Reply {
  const allowed = Object.keys(methods).join(', ');
  const message = `${path} answers ${allowed}, not ${method}`;
  const refusal = errorReply(new ServingError('METHOD_NOT_ALLOWED', message));
  return { ...refusal, headers: { ...refusal.headers, Allow: allowed } };
}

function decodeParams(groups: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        throw new ServingError(
          'BAD_REQUEST',
          `"${value}" in the path is not percent-encoded UTF-8.`,
        );
      }
    }),
  );
}
