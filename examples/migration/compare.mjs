/**
 * Compares recorded answers with those of a batch job: `node compare.mjs answers.json OUTPUTS [TOLERANCE]`.
 * Exit status 1 if one differs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [recorded, outputs, tolerance = '1e-6'] = process.argv.slice(2);

/** The largest difference between numbers at the same place; infinite where anything else differs. */
function difference(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b);
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return a === b ? 0 : Infinity;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Math.max(0, ...[...names].map((name) => difference(a[name], b[name])));
}

const old = Object.entries(JSON.parse(readFileSync(recorded, 'utf8')));
const differing = old.filter(([name, answer]) => {
  const now = JSON.parse(readFileSync(join(outputs, `${name}.out`), 'utf8'));
  return !(difference(answer, now) <= Number(tolerance));
});
console.log(`${old.length - differing.length} of ${old.length} answers agree within ${tolerance}`);
if (differing.length > 0) console.log(`the first that differs: ${differing[0][0]}`);
process.exitCode = differing.length > 0 ? 1 : 0;
