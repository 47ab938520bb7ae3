/** What people call a model that they serve: in its archive the only model is named `model`. */
import { resolve, sep } from 'node:path';

/** Names that say what a thing is and not which. */
const SAYS_NOTHING = /^(?:models?|saved_?model|exports?|exported|\d+|\.*)$/i;
const ENDING = /\.(?:tar\.gz|tgz|zip|keras|h5|hdf5)$/i;

/** The last part of a path or URI that says something: `digits` of `digits/model/`, of `digits.keras` and of `s3://b/digits/1`. */
export function shownName(source: string): string {
  const isUri = source.includes('://');
  const parts = (isUri ? source : resolve(source)).split(isUri ? '/' : sep);
  const names = parts.map((part) => part.replace(ENDING, '')).slice(isUri ? 2 : 0);
  return names.findLast((name) => !SAYS_NOTHING.test(name)) ?? 'model';
}

/** The name to show for each model: its own among several, what the source is called for the only one. */
export function shownNames(
  models: readonly { readonly name: string }[],
  source: string,
): (name: string) => string {
  return models.length === 1 ? () => shownName(source) : (name) => name;
}
