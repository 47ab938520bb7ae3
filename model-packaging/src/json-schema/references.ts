/** References of a JSON Schema into itself, which change when it becomes a part of another document. */
import { isObject, type JsonSchema, placesOf, withSubschemas } from './subschemas.ts';

/** The schema as it is at another place: references lead there, and what names it or its parts otherwise is left out. */
export function relocated(schema: JsonSchema, at: string): JsonSchema {
  const targets = targetsOf(schema);
  const moved = (one: unknown): unknown => {
    if (!isObject(one)) return one;
    const { $schema: _, $id: __, $anchor: ___, $dynamicAnchor: ____, ...own } = one;
    const pointer = pointerOf(own.$ref, targets);
    return withSubschemas(pointer === undefined ? own : { ...own, $ref: at + pointer }, moved);
  };
  return moved(schema) as JsonSchema;
}

/** The first reference that leads out of the schema or to nothing: the keys to it, and what is wrong. */
export function referenceProblem(
  schema: JsonSchema,
): { readonly path: readonly string[]; readonly why: string } | undefined {
  const targets = targetsOf(schema);
  for (const { schema: one, path } of placesOf(schema)) {
    if (!isObject(one)) continue;
    const wrong = (keyword: string, why: string) => ({ path: [...path, keyword], why });
    if (path.length > 0 && '$id' in one)
      return wrong('$id', 'only the whole schema can have one. Leave it out, and refer by $defs');
    if ('$dynamicRef' in one) return wrong('$dynamicRef', 'write $ref, which leads to one place');
    if (one.$ref !== undefined && pointerOf(one.$ref, targets) === undefined) {
      const why = `${JSON.stringify(one.$ref)} leads to no schema within this one. Put it below $defs`;
      return wrong('$ref', `${why}, and refer to #/$defs/NAME`);
    }
  }
  return undefined;
}

/** What a reference within the schema leads to; undefined if to nothing. */
export function targetOf(reference: string, schema: JsonSchema): unknown {
  const targets = targetsOf(schema);
  const pointer = pointerOf(reference, targets);
  if (pointer === undefined) return undefined;
  const keys = decoded(pointer).split('/').slice(1);
  return keys
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], schema);
}

/** What references may name. */
interface Targets {
  /** JSON pointers to all schemas. */
  readonly pointers: ReadonlySet<string>;
  /** JSON pointers by anchor. */
  readonly anchors: ReadonlyMap<string, string>;
  /** The schema's own name, before its fragments. */
  readonly id: string;
}

function targetsOf(schema: JsonSchema): Targets {
  const pointers = new Set<string>();
  const anchors = new Map<string, string>();
  for (const { schema: one, path } of placesOf(schema)) {
    const pointer = path
      .map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('');
    pointers.add(pointer);
    if (!isObject(one)) continue;
    for (const anchor of [one.$anchor, one.$dynamicAnchor])
      if (typeof anchor === 'string') anchors.set(anchor, pointer);
  }
  const id = isObject(schema) && typeof schema.$id === 'string' ? schema.$id : '';
  return { pointers, anchors, id: id.replace(/#$/, '') };
}

/** The pointer of a reference into the schema, as it stands in a URI. Undefined for any other. */
function pointerOf(reference: unknown, { pointers, anchors, id }: Targets): string | undefined {
  if (typeof reference !== 'string') return undefined;
  const [before = '', fragment = ''] = reference.split('#', 2);
  if (before !== '' && before !== id) return undefined;
  const wanted = decoded(fragment);
  const pointer = anchors.get(wanted) ?? (pointers.has(wanted) ? wanted : undefined);
  return pointer === undefined ? undefined : encodeURI(pointer).replaceAll('#', '%23');
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
