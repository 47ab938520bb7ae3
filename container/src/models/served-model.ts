/** What is served of what an archive holds. */
import type { DiscoveredModel } from './discover.ts';

/** A model to serve with the versions to keep loaded. */
export interface ServedModel extends DiscoveredModel {
  /** Version by label, for example `{ stable: '3' }`. */
  readonly labels?: Readonly<Record<string, string>>;
}
