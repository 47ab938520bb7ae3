/** The part of JSONPath that names one value: `$`, `.name`, `["name"]`, `[index]`, negative from the end. */
import { ConstructError } from '../../errors.ts';

const STEP = /^(?:\.([A-Za-z_$][\w$-]*)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\['([^']*)'\])/;

/** The steps of a path. @throws ConstructError SMOKE_TEST_INVALID if it is not one */
export function parseJsonPath(path: string): (string | number)[] {
  if (!path.startsWith('$')) throw invalid(`'${path}' is not a path. Start it with $.`);
  const steps: (string | number)[] = [];
  let rest = path.slice(1);
  while (rest !== '') {
    const match = STEP.exec(rest);
    if (!match) {
      throw invalid(`'${path}' is not a path: '${rest}' is not .name, [index] or ["name"].`);
    }
    const [text, name, index, quoted, single] = match;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? single ?? (JSON.parse(quoted ?? '""') as string));
    rest = rest.slice(text.length);
  }
  return steps;
}

function invalid(message: string): ConstructError {
  return new ConstructError('SMOKE_TEST_INVALID', message);
}

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let current = value;
  for (const step of parseJsonPath(path)) {
    if (typeof current !== 'object' || current === null) return undefined;
    if (typeof step === 'string') {
      if (Array.isArray(current)) return undefined;
      current = Object.hasOwn(current, step) ? Reflect.get(current, step) : undefined;
    } else {
      current = Array.isArray(current) ? current.at(step) : undefined;
    }
  }
  return current;
}
