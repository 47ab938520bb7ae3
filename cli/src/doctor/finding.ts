/** One thing that `doctor` looked at on this machine. */
export interface MachineFinding {
  /** What it is for. */
  readonly group: 'Serve' | 'Package' | 'Deploy';
  readonly what: string;
  readonly ok: boolean;
  /** True if nothing can be served without it. */
  readonly needed: boolean;
  /** What was found. */
  readonly detail: string;
  /** What to do where it is not ok. */
  readonly fix?: string;
}
