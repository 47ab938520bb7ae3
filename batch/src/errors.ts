/** The room's catalogue: what can be wrong with a text that names or lists objects, and what ends a batch worker. */
export const BATCH_ERRORS = {
  ANSWER_TOO_LARGE: {
    exitStatus: 1,
    meaning: 'What answers as S3 sends more than a listing or an error can have.',
  },
  ALREADY_RUNNING: {
    exitStatus: 1,
    meaning: 'Another run of workers writes below the same output prefix.',
  },
  S3_URI_INVALID: { exitStatus: 2, meaning: 'The text is not `s3://BUCKET/KEY`.' },
  MANIFEST_INVALID: { exitStatus: 1, meaning: 'The file is not a manifest of SageMaker.' },
  FACTS_INVALID: {
    exitStatus: 1,
    meaning: 'What `batch probe` wrote beside the outputs cannot be read.',
  },
  WORKER_FILE_INVALID: { exitStatus: 1, meaning: 'A file of `batch worker` cannot be read.' },
  WORKER_USAGE: { exitStatus: 2, meaning: 'Options of `batch worker` are wrong or missing.' },
  MODEL_UNREADABLE: { exitStatus: 1, meaning: 'A worker cannot read its model from S3.' },
  OTHER_RUN: {
    exitStatus: 1,
    meaning: 'The output prefix has answers of another model, or of other settings.',
  },
  OTHER_WORKER: { exitStatus: 1, meaning: 'Two workers wrote the same range of keys.' },
  INVENTORY_NOT_READ: { exitStatus: 1, meaning: 'A file of the S3 inventory cannot be read.' },
  INVENTORY_INVALID: {
    exitStatus: 1,
    meaning:
      'The S3 inventory is not a CSV inventory of the input bucket with the columns that are needed, or a file of it is gone, cut, damaged or not the one of its `manifest.json`. The same inventory fails again: name another one, as S3 has written it, and give it to a run of another output prefix or `runId`.',
  },
  LISTING_INVALID: {
    exitStatus: 1,
    meaning: 'A listing of S3 repeats itself, or its keys are not sorted.',
  },
  NODE_TOO_OLD: {
    exitStatus: 1,
    meaning: 'The Node that runs is older than the packages need.',
  },
  NOTHING_FOUND: { exitStatus: 1, meaning: 'The input prefix holds no inputs.' },
  OBJECT_TOO_LARGE: {
    exitStatus: 1,
    meaning: 'An object of S3 has more bytes than its reader takes.',
  },
  OBJECT_WITHOUT_LENGTH: {
    exitStatus: 1,
    meaning: 'What answers as S3 does not say how many bytes an object has.',
  },
  OVER_BUDGET: {
    exitStatus: 1,
    meaning: 'The workers of a run have used the hours of `--budget-hours`.',
  },
  WORKER_FAILURES: {
    exitStatus: 1,
    meaning: 'More inputs of a worker failed than `--max-failure-percent` allows.',
  },
} as const;

/** A code of the catalogue. */
export type BatchErrorCode = keyof typeof BATCH_ERRORS;

/** Thrown for a text that is not what it should be; the message says what is wrong and what to write. */
export class BatchError extends Error {
  readonly code: BatchErrorCode;
  readonly exitStatus: number;

  constructor(code: BatchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BatchError';
    this.code = code;
    this.exitStatus = BATCH_ERRORS[code].exitStatus;
  }
}
