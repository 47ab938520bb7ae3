/** The room's one error: a manifest, or a declaration in it, that makes no sense. */
export class ManifestError extends Error {
  /** Where: `preprocess.size`, `models.0.name`; empty for the whole. */
  readonly field: string;

  constructor(field: string, message: string, options?: ErrorOptions) {
    super(field === '' ? message : `${field}: ${message}`, options);
    this.name = 'ManifestError';
    this.field = field;
  }
}

/** One thing wrong with a declaration. */
export interface Problem {
  /** For example `preprocess.size`. */
  readonly field: string;
  /** What is wrong and what to do. */
  readonly message: string;
}

/** @throws ManifestError that lists all problems, named after the first; nothing where there are none */
export function throwProblems(problems: readonly Problem[]): void {
  const [first, ...others] = problems;
  if (!first) return;
  const rest = others.map(({ field, message }) => `\n${field}: ${message}`).join('');
  throw new ManifestError(first.field, first.message + rest);
}
