/** A request that a handler's export `openapi` describes. */
import type { DeclaredBodies } from '../handler/declared-bodies.ts';
import { exampleOf } from '../json-schema/example-of.ts';

/** A body in JSON. */
export interface DeclaredRequest {
  readonly contentType: string;
  readonly value: unknown;
  /** True if the schema has it as an example; else it is made of the schema. */
  readonly isDeclared: boolean;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;

/** The example of the first media type of JSON. Undefined if requests are not declared, or not in JSON. */
export function declaredRequest(declared: DeclaredBodies | undefined): DeclaredRequest | undefined {
  const found = Object.entries(declared?.request ?? {}).find(([type]) => JSON_TYPE.test(type));
  if (!found) return undefined;
  const [contentType, schema] = found;
  // Where everything is allowed, nothing is said of it.
  const isOpen = schema === true || Object.keys(schema).length === 0;
  const example = isOpen ? undefined : exampleOf(schema);
  if (!example) return undefined;
  return { contentType, ...example };
}
