/** Settings of a transform job: defaults in the construct, overridden by an execution's input. */
import { DEFAULT_TRANSFORM_AMI } from './ami.ts';
import { EXISTING, type Existing } from './existing.ts';
import { FIRST_TRANSFORM_TYPE, INSTANCE_TYPE } from './instance-types.ts';
import { BUCKET } from './s3-uri.ts';

/** How an object is cut into records. */
export const SPLIT_TYPES = ['None', 'Line', 'RecordIO', 'TFRecord'] as const;
export type SplitType = (typeof SPLIT_TYPES)[number];

/** How many records one request carries. */
export const BATCH_STRATEGIES = ['SingleRecord', 'MultiRecord'] as const;
export type BatchStrategy = (typeof BATCH_STRATEGIES)[number];

/** What stands between the answers of one object's requests. */
export const ASSEMBLIES = ['None', 'Line'] as const;
export type AssembleWith = (typeof ASSEMBLIES)[number];

/** What `inputUri` names. */
export const DATA_TYPES = ['S3Prefix', 'ManifestFile'] as const;
export type DataType = (typeof DATA_TYPES)[number];

/** An instance type and its host image; an empty one is SageMaker's default. */
export interface FallbackType {
  readonly instanceType: string;
  readonly transformAmiVersion: string;
}

/** Everything that an execution's input may set; the names are those of SageMaker's CreateTransformJob. */
export interface TransformSettings {
  /** S3 prefix, or S3 URI of a manifest. */
  readonly inputUri: string;
  /** What `inputUri` names. */
  readonly dataType: DataType;
  /**
   * S3 URI of an inventory's `manifest.json` (CSV), which a sharded run reads instead of listing the bucket;
   * `inputUri` is still the prefix whose objects are taken. Empty: the bucket is listed.
   */
  readonly inventoryUri: string;
  /** End of the keys that a sharded run takes, such as `.jpg`. Empty: all. */
  readonly keySuffix: string;
  /** S3 prefix that `<name>.out` is written below. */
  readonly outputUri: string;
  readonly instanceType: string;
  /**
   * Types to continue with, in turn, where `instanceType` is refused, at its quota or without capacity. An input
   * that sets only `instanceType` has none.
   */
  readonly fallbacks: readonly FallbackType[];
  readonly instanceCount: number;
  /** Requests at once to each instance. */
  readonly maxConcurrentTransforms: number;
  readonly maxPayloadInMB: number;
  readonly batchStrategy: BatchStrategy;
  readonly contentType: string;
  readonly accept: string;
  readonly splitType: SplitType;
  readonly assembleWith: AssembleWith;
  readonly compressionType: 'None' | 'Gzip';
  /** `Input` writes each record beside its prediction. */
  readonly joinSource: 'None' | 'Input';
  /** JSONPath. */
  readonly inputFilter: string;
  /** JSONPath. */
  readonly outputFilter: string;
  readonly invocationsTimeoutInSeconds: number;
  readonly invocationsMaxRetries: number;
  /** Host image; empty for SageMaker's default. */
  readonly transformAmiVersion: string;
  /** Environment variables of this job's containers; 16 at most. */
  readonly environment: Readonly<Record<string, string>>;
  /** Objects for each job; 0 runs one job over everything. */
  readonly objectsPerShard: number;
  /**
   * Minutes of work of each job of a sharded run, by the rate that the first small shard shows; `objectsPerShard` is then the
   * most. 0: every shard has `objectsPerShard`.
   */
  readonly minutesPerShard: number;
  /** Jobs at once; stay below the account's quota of instances. */
  readonly maxConcurrentJobs: number;
  /**
   * Names a sharded run. Starting again with the same one continues it: shards with outputs for all their
   * inputs are not run again. Empty: the execution's name.
   */
  readonly runId: string;
  /** Which outputs that are there already count as done, in a sharded run. */
  readonly existing: Existing;
  /** True if a run that finds no input succeeds. */
  readonly allowEmpty: boolean;
  /** Inputs of a shard, in percent, whose failure stops the run; 100 never does. */
  readonly maxFailurePercent: number;
  /** Hours of all instances together after which a sharded run starts no more jobs and fails; 0 for no limit. */
  readonly budgetInstanceHours: number;
  /**
   * Minutes that a run waits for another one below the same output prefix before it fails with `AlreadyRunning`. A run that
   * a manifest has started waits a week.
   */
  readonly waitMinutes: number;
  /**
   * Names what starts the run. AWS delivers events at least once: of several executions with the same event, `inputUri` and
   * `outputUri` only the first works, and the others end well at once. If it has failed, the next one works. Empty: every
   * execution works.
   */
  readonly event: string;
}

/** The default of a setting. Places have none, and neither has the media type of the inputs: the model decides it. */
export const DEFAULT_SETTINGS = {
  dataType: 'S3Prefix',
  inventoryUri: '',
  keySuffix: '',
  instanceType: FIRST_TRANSFORM_TYPE,
  fallbacks: [],
  instanceCount: 2,
  maxConcurrentTransforms: 64,
  maxPayloadInMB: 1,
  batchStrategy: 'SingleRecord',
  accept: 'application/json',
  splitType: 'None',
  assembleWith: 'None',
  compressionType: 'None',
  joinSource: 'None',
  inputFilter: '$',
  outputFilter: '$',
  invocationsTimeoutInSeconds: 600,
  invocationsMaxRetries: 3,
  transformAmiVersion: '',
  environment: {},
  objectsPerShard: 0,
  minutesPerShard: 60,
  maxConcurrentJobs: 2,
  runId: '',
  existing: 'older',
  allowEmpty: false,
  maxFailurePercent: 50,
  budgetInstanceHours: 0,
  waitMinutes: 0,
  event: '',
} as const satisfies Omit<TransformSettings, 'inputUri' | 'outputUri' | 'contentType'>;

/**
 * Instances of one job.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_TransformResources.html
 */
const MAX_INSTANCES = 100;

/**
 * Requests at once times the largest request, MB, of one instance.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html (MaxPayloadInMB)
 */
export const MAX_MB_IN_FLIGHT = 100;

/** Name of a setting. */
export type SettingName = keyof TransformSettings;

/** What a setting may be, for the first state of the machine. */
export type SettingRule =
  | { readonly type: 'integer'; readonly min: number; readonly max: number }
  | { readonly type: 'choice'; readonly choices: readonly string[] }
  | { readonly type: 'text'; readonly pattern: string; readonly example: string }
  | { readonly type: 'boolean' }
  | { readonly type: 'map' }
  | { readonly type: 'types' };

const BUCKET_URI = `s3://${BUCKET}/`;
const S3_URI = `^${BUCKET_URI}.*$`;
const text = (pattern: string, example: string) => ({ type: 'text', pattern, example }) as const;
const choice = (...choices: string[]) => ({ type: 'choice', choices }) as const;
const integer = (min: number, max: number) => ({ type: 'integer', min, max }) as const;

/** SageMaker's bounds (API reference of CreateTransformJob). */
export const SETTING_RULES = {
  inputUri: text(S3_URI, 's3://BUCKET/PREFIX/'),
  dataType: choice(...DATA_TYPES),
  inventoryUri: text(`^(${BUCKET_URI}.*[.]json)?$`, 's3://BUCKET/PREFIX/manifest.json'),
  keySuffix: text('^.{0,200}$', '.jpg'),
  outputUri: text(S3_URI, 's3://BUCKET/PREFIX/'),
  instanceType: text(INSTANCE_TYPE, DEFAULT_SETTINGS.instanceType),
  fallbacks: { type: 'types' },
  instanceCount: integer(1, MAX_INSTANCES),
  maxConcurrentTransforms: integer(0, 1000),
  maxPayloadInMB: integer(0, 100),
  batchStrategy: choice(...BATCH_STRATEGIES),
  contentType: text('^[^/ ]+/[^/]+$', 'application/x-image'),
  accept: text('^[^/ ]+/[^/]+$', 'application/json'),
  splitType: choice(...SPLIT_TYPES),
  assembleWith: choice(...ASSEMBLIES),
  compressionType: choice('None', 'Gzip'),
  joinSource: choice('None', 'Input'),
  inputFilter: text('^[$]', '$'),
  outputFilter: text('^[$]', '$'),
  invocationsTimeoutInSeconds: integer(1, 3600),
  invocationsMaxRetries: integer(0, 3),
  transformAmiVersion: text('^(al2[a-z0-9-]*)?$', DEFAULT_TRANSFORM_AMI),
  environment: { type: 'map' },
  objectsPerShard: integer(0, 1_000_000),
  minutesPerShard: integer(0, 1_440),
  maxConcurrentJobs: integer(1, 1000),
  runId: text('^[A-Za-z0-9-]{0,64}$', 'tiles-2024'),
  existing: choice(...EXISTING),
  allowEmpty: { type: 'boolean' },
  maxFailurePercent: integer(0, 100),
  budgetInstanceHours: integer(0, 1_000_000),
  waitMinutes: integer(0, 20_160),
  event: text('^.{0,200}$', '2026-01-01T00:00:00Z'),
} as const satisfies Readonly<Record<SettingName, SettingRule>>;

/** Name of a setting that is a whole number and has a default. */
export type IntegerSetting = {
  [K in keyof typeof DEFAULT_SETTINGS]: (typeof SETTING_RULES)[K] extends { type: 'integer' }
    ? K
    : never;
}[keyof typeof DEFAULT_SETTINGS];

/** A setting that others forbid. */
export interface ConflictRule {
  readonly setting: SettingName;
  /** JSONata over the settings `$s`; true where the setting cannot be. */
  readonly when: string;
  readonly problem: string;
  /**
   * The same as `when`, of the defaults that a construct is given, which it then refuses. Absent: another setting of an
   * execution can still put it right.
   */
  readonly refuses?: (
    settings: Pick<TransformSettings, keyof typeof DEFAULT_SETTINGS | 'contentType'>,
  ) => boolean;
  /** What to set instead, where a construct refuses it. */
  readonly fix?: string;
}

/** JSON, whose answers do not end with a line break as those of JSON Lines and CSV do. */
const JSON_TYPE = /^application[/]([^;]+[+])?json *(;|$)/i;

/** What follows each answer unless it is given: JSON documents of several requests need something between them. */
export function defaultAssembly({
  splitType = DEFAULT_SETTINGS.splitType,
  accept = DEFAULT_SETTINGS.accept,
}: Partial<Pick<TransformSettings, 'splitType' | 'accept'>>): AssembleWith {
  return splitType !== 'None' && JSON_TYPE.test(accept) ? 'Line' : DEFAULT_SETTINGS.assembleWith;
}

/** Answers of one object would stand side by side, as one text that is no JSON. */
export const ANSWERS_GLUED: ConflictRule = {
  setting: 'assembleWith',
  when: `$s.splitType != "None" and $s.assembleWith = "None" and $contains($string($s.accept), /${JSON_TYPE.source}/i)`,
  refuses: ({ splitType, assembleWith, accept }) =>
    splitType !== 'None' && assembleWith === 'None' && JSON_TYPE.test(accept),
  problem: "'None' writes the JSON of an object's records with nothing between",
  fix: "Give assembleWith 'Line'",
};

/** Media types of records that SageMaker joins with their answers. */
const JOINED_TYPES = /json|csv/;

/** RFC 4180's parameter of `text/csv`. */
const HEADER_PRESENT = /; *header *= *"?present/i;

/** Lines are cut off from the header that names their columns: a later request would begin with a row. */
export const HEADER_CUT_OFF: ConflictRule = {
  setting: 'splitType',
  when: `$s.splitType = "Line" and $contains($string($s.contentType), /${HEADER_PRESENT.source}/i)`,
  refuses: ({ splitType, contentType }) => splitType === 'Line' && HEADER_PRESENT.test(contentType),
  problem:
    "'Line' leaves the header in the first request of a file, and each other one would lose a row to it",
  fix: "Give splitType 'None', or files without a header and contentType 'text/csv'",
};

/** A job over a prefix takes every object below it: outputs, and what the run keeps, were inputs of the next one. */
const OUTPUTS_AMONG_INPUTS: ConflictRule = {
  setting: 'outputUri',
  when: '$s.objectsPerShard = 0 and $s.dataType = "S3Prefix" and $substring($replace($string($s.outputUri), /[/]?$/, "/"), 0, $length($string($s.inputUri))) = $string($s.inputUri)',
  problem:
    'it lies below inputUri, and a job without shards would take outputs for inputs; set another prefix, or objectsPerShard',
};

/** Settings that do not go together. */
export const CONFLICT_RULES: readonly ConflictRule[] = [
  OUTPUTS_AMONG_INPUTS,
  {
    setting: 'batchStrategy',
    when: '$s.batchStrategy = "MultiRecord" and $s.splitType = "None"',
    refuses: ({ batchStrategy, splitType }) =>
      batchStrategy === 'MultiRecord' && splitType === 'None',
    problem: `'MultiRecord' joins records, and splitType 'None' makes none`,
    fix: `Give a splitType, or batchStrategy 'SingleRecord'`,
  },
  HEADER_CUT_OFF,
  ANSWERS_GLUED,
  {
    setting: 'joinSource',
    when: `$s.joinSource = "Input" and $not($contains($string($s.contentType), /${JOINED_TYPES.source}/))`,
    refuses: ({ joinSource, contentType }) =>
      joinSource === 'Input' && !JOINED_TYPES.test(contentType),
    problem: 'SageMaker joins only JSON and CSV, by contentType',
    fix: `Give joinSource 'None'`,
  },
  {
    setting: 'maxPayloadInMB',
    when: `$type($s.maxConcurrentTransforms) = "number" and $type($s.maxPayloadInMB) = "number" ? $s.maxConcurrentTransforms * $s.maxPayloadInMB > ${MAX_MB_IN_FLIGHT} : false`,
    problem: `maxConcurrentTransforms times maxPayloadInMB may be ${MAX_MB_IN_FLIGHT} at most; lower one of them`,
  },
  {
    setting: 'inventoryUri',
    when: '$s.inventoryUri != "" and $s.objectsPerShard = 0',
    problem: 'a single job reads no inventory; set objectsPerShard',
  },
  {
    setting: 'inventoryUri',
    when: '$s.inventoryUri != "" and $s.dataType != "S3Prefix"',
    problem:
      'an inventory takes the place of a listing; set dataType to S3Prefix, and inputUri to the prefix of the inputs',
  },
  {
    setting: 'keySuffix',
    when: '$s.keySuffix != "" and $s.objectsPerShard = 0',
    problem: 'a single job takes every object below its prefix; set objectsPerShard',
  },
  {
    setting: 'existing',
    when: '$s.existing = "skip" and $s.objectsPerShard = 0',
    problem: 'a single job makes every output again; set objectsPerShard',
  },
];
