/** What AWS would refuse, as functions over plain values: configurations and constructs ask the same ones. */

/** What is wrong and what to write instead; undefined if nothing is. */
export type Problem = { readonly problem: string; readonly fix: string } | undefined;

/** The first of `fields` that `what` does not allow. */
export function excluding(what: string, fields: readonly string[], given: object): Problem {
  const values = given as Readonly<Record<string, unknown>>;
  const other = fields.find((field) => values[field] !== undefined && values[field] !== false);
  if (other === undefined) return undefined;
  return { problem: `${what} cannot have '${other}'`, fix: 'Leave one of the two out' };
}

/** A number above the `field` that bounds it. */
export function aboveProblem(value: number, field: string, most: number): Problem {
  if (value <= most) return undefined;
  return { problem: `${value} is more than ${field}, ${most}`, fix: 'Give no more than that' };
}

/** A number to begin with that autoscaling would not keep. */
export function startProblem(value: number | undefined, least: number, most: number): Problem {
  if (value === undefined || (value >= least && value <= most)) return undefined;
  const problem = `${value}, and scaling keeps ${least} to ${most}`;
  return { problem, fix: 'Give a number between them, or leave it out' };
}

/** Where a value stands for the second time; -1 if each stands once. */
export function twinIndex(values: readonly (string | undefined)[]): number {
  return values.findIndex((value, i) => value !== undefined && values.indexOf(value) < i);
}
