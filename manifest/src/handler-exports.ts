/** The names that the runtime looks for in a handler's module. */
import { distance } from 'fastest-levenshtein';

const STEPS = ['inputHandler', 'outputHandler'];

/** Names that are near one of ours, and mean something of their own. */
const OTHERS = ['openai'];

/** Edits that make another word of a name; `input_handler` is two from `inputHandler`. */
const MOST_EDITS = 2;

/** An export, and the name that it may mean. */
interface Misspelled {
  readonly name: string;
  readonly meant: string;
}

/**
 * An export that the runtime would ignore and whose name is near one that the module lacks. Others stay: a handler may
 * export what its tests use.
 */
export function misspelledExport(exports: readonly string[]): Misspelled | undefined {
  const missing = ['streaming', 'openapi', ...wanted(exports)].filter(
    (known) => !exports.includes(known),
  );
  for (const name of exports) {
    const meant = missing.find((known) => isNear(name, known));
    if (meant !== undefined) return { name, meant };
  }
  return undefined;
}

/** `handler` and the steps are alternatives: beside a step, `handle` is a name of the author's own. */
function wanted(exports: readonly string[]): readonly string[] {
  if (exports.includes('handler')) return [];
  return exports.some((name) => STEPS.includes(name)) ? STEPS : ['handler', ...STEPS];
}

function isNear(name: string, known: string): boolean {
  // Distances of long names take long.
  if (Math.abs(name.length - known.length) > MOST_EDITS) return false;
  if (OTHERS.includes(name.toLowerCase())) return false;
  const isOtherCase = name.toLowerCase() === known.toLowerCase();
  return isOtherCase || distance(name, known) <= MOST_EDITS;
}
