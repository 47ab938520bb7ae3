/** The variables' texts as values, each by itself. */
import { ENVIRONMENT_VARIABLES, type VariableDefinition } from '../environment-variables.ts';

/** The environment as a process has it. */
export type Variables = Readonly<Record<string, string | undefined>>;

type Definition = (typeof ENVIRONMENT_VARIABLES)[number];

/** Value of a variable, where a range of ports is a `Range`. */
export type ValueOf<D extends Definition, Range = PortRange> = D extends { type: 'boolean' }
  ? boolean
  : D extends { type: 'integer' | 'number' }
    ? number
    : D extends { type: 'port range' }
      ? Range
      : D extends { type: 'choice'; choices: readonly (infer C)[] }
        ? C
        : string;

/** All variables, each with its value or its default. */
export type Values = {
  readonly [D in Definition as D['name']]: D extends { default: string }
    ? ValueOf<D>
    : ValueOf<D> | undefined;
};

/** Ports from `low` to `high`, both included. */
export interface PortRange {
  readonly low: number;
  readonly high: number;
}

/** A variable whose value makes no sense by itself. */
interface Fault {
  readonly name: string;
  readonly problem: string;
}

/** A faulty value counts as its default. Without a schema: its library would be half of what the start loads. */
export function valuesOf(variables: Variables): {
  readonly values: Values;
  readonly faults: readonly Fault[];
} {
  const faults: Fault[] = [];
  const values = ENVIRONMENT_VARIABLES.map((definition: VariableDefinition) => {
    const { name } = definition;
    const given = variables[name]?.trim();
    const read = (text: string | undefined) =>
      text === undefined ? undefined : parseValue(text, definition);
    const value = read(given || definition.default);
    if (typeof value !== 'object' || !('problem' in value)) return [name, value];
    faults.push({ name, problem: `${name} is "${given}": ${value.problem}.` });
    return [name, read(definition.default)];
  });
  return { values: Object.fromEntries(values) as Values, faults };
}

function parseValue(
  value: string,
  definition: VariableDefinition,
): string | number | boolean | PortRange | { problem: string } {
  switch (definition.type) {
    case 'text':
      return value;
    case 'boolean': {
      const lower = value.toLowerCase();
      if (lower === 'true' || lower === 'false') return lower === 'true';
      return { problem: 'it must be true or false' };
    }
    case 'choice':
      if (definition.choices?.includes(value)) return value;
      return { problem: `it must be one of ${definition.choices?.join(', ')}` };
    case 'port range':
      return parsePortRange(value);
    default:
      return parseNumber(value, definition);
  }
}

function parseNumber(value: string, definition: VariableDefinition): number | { problem: string } {
  const whole = definition.type === 'integer';
  const minimum = definition.minimum ?? 0;
  const maximum = definition.maximum ?? Number.MAX_SAFE_INTEGER;
  const number = (whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  const kind = whole ? 'a whole number' : 'a number';
  const upper = definition.maximum === undefined ? '' : ` and at most ${definition.maximum}`;
  return { problem: `it must be ${kind} of at least ${minimum}${upper}` };
}

function parsePortRange(value: string): PortRange | { problem: string } {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(value);
  const low = Number(match?.[1]);
  const high = Number(match?.[2]);
  if (low >= 1 && high <= 65535 && low <= high) return { low, high };
  return { problem: 'it must be two ports, low-high, between 1 and 65535' };
}
