/** What `doctor --account` found. */

/** One thing that was looked at. */
export interface AccountFinding {
  readonly what: string;
  readonly ok: boolean;
  /** What was found, or what to do. */
  readonly detail: string;
}
