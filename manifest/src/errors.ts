/** The room's catalogue. Packaging and the runtime map its codes to their own. */
export const MANIFEST_ERRORS = {
  MANIFEST_INVALID:
    '`code/manifest.json` is too large or nested too deep, is not JSON, or has a wrong field.',
  DECLARATION_INVALID: 'A `preprocess` or `postprocess` makes no sense, or does not fit the model.',
  LABELS_INVALID: 'A labels file has more bytes or lines than the runtime reads.',
} as const;

/** A code of the catalogue. */
type ManifestErrorCode = keyof typeof MANIFEST_ERRORS;

/** A manifest, or a declaration in it, that makes no sense. */
export class ManifestError extends Error {
  readonly code: ManifestErrorCode;
  /** Where: `preprocess.size`, `models.0.name`; empty for the whole. */
  readonly field: string;

  constructor(code: ManifestErrorCode, field: string, message: string, options?: ErrorOptions) {
    super(field === '' ? message : `${field}: ${message}`, options);
    this.name = 'ManifestError';
    this.code = code;
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
  throw new ManifestError('DECLARATION_INVALID', first.field, first.message + rest);
}
