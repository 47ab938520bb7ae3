/** Whether a value is a JSON Schema (2020-12), by the rules of its meta-schema. */
import { referenceProblem } from './references.ts';
import { holds, isObject, type JsonSchema, placesOf } from './subschemas.ts';

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isType = (value: unknown) => TYPES.includes(value as string);
const isSetOf = (value: unknown, is: (one: unknown) => boolean) =>
  Array.isArray(value) && value.every(is) && new Set(value).size === value.length;
const isNames = (value: unknown) => isSetOf(value, isText);

interface Rule {
  readonly keywords: readonly string[];
  readonly holds: (value: unknown) => boolean;
  /** What to write. */
  readonly form: string;
}

/** Of keywords that hold no schemas. Others are anyone's own. @see https://json-schema.org/draft/2020-12/schema */
const RULES: readonly Rule[] = [
  {
    keywords: ['type'],
    holds: (value) => isType(value) || (isSetOf(value, isType) && (value as unknown[]).length > 0),
    form: `one of ${TYPES.join(', ')}, or a list of them`,
  },
  { keywords: ['enum', 'examples'], holds: Array.isArray, form: 'a list' },
  { keywords: ['required'], holds: isNames, form: 'a list of different names' },
  {
    keywords: ['dependentRequired'],
    holds: (value) => isObject(value) && Object.values(value).every(isNames),
    form: 'an object of lists of different names',
  },
  {
    keywords: ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'],
    holds: isNumber,
    form: 'a number',
  },
  {
    keywords: ['multipleOf'],
    holds: (value) => isNumber(value) && (value as number) > 0,
    form: 'a number above 0',
  },
  {
    keywords: [
      ...['maxLength', 'minLength', 'maxItems', 'minItems', 'maxContains', 'minContains'],
      ...['maxProperties', 'minProperties'],
    ],
    holds: isCount,
    form: 'a whole number from 0',
  },
  {
    keywords: ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'],
    holds: isBoolean,
    form: 'true or false',
  },
  { keywords: ['pattern'], holds: isPattern, form: 'a regular expression' },
  {
    keywords: [
      ...['$comment', '$dynamicRef', '$id', '$ref', '$schema', 'contentEncoding'],
      ...['contentMediaType', 'description', 'format', 'title'],
    ],
    holds: isText,
    form: 'a text',
  },
  {
    keywords: ['$anchor', '$dynamicAnchor'],
    holds: (value) => isText(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value as string),
    form: 'a name of letters, digits, hyphens, dots and underscores',
  },
];

const BY_KEYWORD = new Map(
  RULES.flatMap((rule) => rule.keywords.map((keyword) => [keyword, rule] as const)),
);

/** The first thing that is wrong, with the keys to it, as in `properties.x.type: ...`. Undefined for a schema. */
export function schemaProblem(schema: unknown, name: string): string | undefined {
  for (const { schema: one, path } of placesOf(schema)) {
    const at = [name, ...path].join('.');
    if (typeof one === 'boolean') continue;
    if (!isObject(one)) return `${at}: ${shown(one)} is no schema`;
    for (const [keyword, value] of Object.entries(one)) {
      const form = wantedForm(keyword, value);
      if (form !== undefined) return `${at}.${keyword}: ${shown(value)} is wrong. Write ${form}`;
    }
  }
  const reference = referenceProblem(schema as JsonSchema);
  return reference && `${[name, ...reference.path].join('.')}: ${reference.why}`;
}

/** What a keyword should have in place of its value. */
function wantedForm(keyword: string, value: unknown): string | undefined {
  const form = holds(keyword);
  if (form === 'list' && !(Array.isArray(value) && value.length > 0)) return 'a list of schemas';
  if (form === 'named' && !isObject(value)) return 'an object of schemas';
  if (keyword === 'patternProperties' && !Object.keys(value as object).every(isPattern))
    return 'regular expressions as its names';
  if (keyword === 'dependencies') return 'dependentSchemas or dependentRequired';
  const rule = BY_KEYWORD.get(keyword);
  return rule && !rule.holds(value) ? rule.form : undefined;
}

function isPattern(value: unknown): boolean {
  return typeof value === 'string' && ['u', ''].some((flags) => isCompiled(value, flags));
}

function isCompiled(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) !== undefined;
  } catch {
    return false;
  }
}

const MOST_SHOWN = 60;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text;
}
