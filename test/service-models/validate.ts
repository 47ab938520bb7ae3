/** Checks values against the service models that AWS publishes with its SDKs (`extract.py`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Shape {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly min?: number;
  readonly max?: number;
  readonly required?: readonly string[];
  readonly members?: Readonly<Record<string, string>>;
  readonly member?: string;
  readonly key?: string;
  readonly value?: string;
  /** Members that travel as headers, by these. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Service {
  /** Before the operation in `X-Amz-Target`. */
  readonly target?: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

/** The services by their names. */
export const { services } = JSON.parse(readFileSync(join(__dirname, 'shapes.json'), 'utf8')) as {
  services: Readonly<Record<string, Service>>;
};

/** What a value of a template may be instead of a text or number: `{Ref}`, `{Fn::...}`. */
function isIntrinsic(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const [key = '', ...more] = Object.keys(value);
  return more.length === 0 && (key === 'Ref' || key.startsWith('Fn::'));
}

/**
 * What an operation would refuse of its input, a line for each.
 * @param optional required members that CloudFormation supplies
 */
export function problemsOf(
  service: string,
  operation: string,
  input: unknown,
  optional: readonly string[] = [],
): string[] {
  const model = services[service];
  const shape = model?.inputs[operation];
  if (!model || !shape) throw new Error(`no model of ${service} ${operation}; see extract.py`);
  const check = (name: string, value: unknown, path: string, free: readonly string[]): string[] => {
    const rule = model.shapes[name];
    if (!rule) throw new Error(`no shape ${name}`);
    if (isIntrinsic(value)) return [];
    switch (rule.type) {
      case 'structure':
        return structure(rule, value, path, free, check);
      case 'list':
        if (!Array.isArray(value)) return [`${path}: not a list`];
        return [
          ...range(rule, value.length, path),
          ...value.flatMap((item, i) => check(rule.member ?? '', item, `${path}[${i}]`, [])),
        ];
      case 'map':
        if (typeof value !== 'object' || value === null) return [`${path}: not a map`];
        return [
          ...range(rule, Object.keys(value).length, path),
          ...Object.entries(value).flatMap(([key, item]) => [
            ...check(rule.key ?? '', key, `${path} key`, []),
            ...check(rule.value ?? '', item, `${path}.${key}`, []),
          ]),
        ];
      default:
        return scalar(rule, value, path);
    }
  };
  return check(shape, input, operation, optional);
}

type Check = (name: string, value: unknown, path: string, free: readonly string[]) => string[];

function structure(
  rule: Shape,
  value: unknown,
  path: string,
  free: readonly string[],
  check: Check,
): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}: not an object`];
  const missing = (rule.required ?? []).filter((name) => !(name in value) && !free.includes(name));
  return [
    ...missing.map((name) => `${path}: lacks ${name}`),
    ...Object.entries(value).flatMap(([name, item]) => {
      const member = rule.members?.[name];
      return member ? check(member, item, `${path}.${name}`, []) : [`${path}: has no ${name}`];
    }),
  ];
}

function range({ min, max }: Shape, size: number, path: string): string[] {
  const low = min !== undefined && size < min;
  const high = max !== undefined && size > max;
  return low || high ? [`${path}: ${size} is not ${min ?? ''}-${max ?? ''}`] : [];
}

function scalar(rule: Shape, value: unknown, path: string): string[] {
  if (rule.type === 'blob' || rule.type === 'timestamp') return [];
  if (rule.type === 'boolean') return typeof value === 'boolean' ? [] : [`${path}: no boolean`];
  if (/^(integer|long|float|double)$/.test(rule.type)) {
    if (typeof value !== 'number') return [`${path}: no number`];
    const whole = /^(integer|long)$/.test(rule.type) && !Number.isInteger(value);
    return whole ? [`${path}: ${value} is not whole`] : range(rule, value, path);
  }
  if (typeof value !== 'string') return [`${path}: no text`];
  const problems = range(rule, value.length, path);
  if (rule.enum && !rule.enum.includes(value)) problems.push(`${path}: '${value}' is not offered`);
  if (rule.pattern && !patternOf(rule.pattern).test(value)) {
    problems.push(`${path}: '${value}' does not match ${rule.pattern}`);
  }
  return problems;
}

/**
 * A pattern of the models, which are written for Java: its class of printable characters has no name here, and an end
 * of the text that is repeated (`$ {1,128}` without the space) is no pattern.
 */
function patternOf(pattern: string): RegExp {
  const ours = pattern.replaceAll('\\p{Print}', '[ -~]').replace(/\$\{\d+,\d+\}$/, '');
  return new RegExp(`^(?:${ours})$`, 'su');
}
