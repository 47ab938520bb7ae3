/**
 * What SageMaker's transform jobs do where AWS's documents say too little. `batch probe` finds it out with a real job and
 * keeps it beside the outputs; the state machine and the command read it there.
 */
import * as z from 'zod';
import { BatchError } from './errors.ts';
import { OUTPUT_SUFFIX, RUNS_FOLDER } from './outputs.ts';
import type { S3Location } from './s3-uri.ts';

/** Where the facts lie, below the output prefix of a run. */
export const FACTS_KEY = `${RUNS_FOLDER}facts.json`;

/**
 * Where an input's output lies below the output prefix, before `.out`: under its key below the input prefix, under its
 * whole key in the bucket, under the last part of its name, or somewhere else.
 */
export const OUTPUT_LAYOUTS = ['key', 'wholeKey', 'name', 'unknown'] as const;
export type OutputLayout = (typeof OUTPUT_LAYOUTS)[number];

/** Kinds of names whose outputs may lie elsewhere, because something encodes them. */
const NAME_KINDS = ['space', 'plus', 'percent', 'unicode'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

const HAS_KIND: Readonly<Record<NameKind, RegExp>> = {
  space: / /,
  plus: /[+]/,
  percent: /%/,
  unicode: /[^\p{ASCII}]/u,
};

const schema = z.object({
  layout: z.enum(OUTPUT_LAYOUTS),
  /** Kinds of names whose outputs do not lie where the layout says. */
  lostNames: z.array(z.enum(NAME_KINDS)).readonly(),
  /** Bytes of the largest manifest that a job has taken. */
  manifestBytes: z.number().int().positive(),
  /** Whether a job makes no outputs at all if its manifest names an object that is not there. */
  deletedKeyStopsJob: z.boolean(),
  /** Whether no input of a job has an output if the model refuses one. */
  badInputStopsJob: z.boolean(),
  /** Whether an object of 0 bytes has an output. */
  emptyIsAnswered: z.boolean(),
  /** Whether an object over MaxPayloadInMB has an output. */
  largeIsAnswered: z.boolean(),
  /** Seconds from the creation of the job to its start. */
  startSeconds: z.number().nonnegative().optional(),
});

/** Facts about transform jobs. */
export type TransformFacts = Readonly<z.output<typeof schema>>;

/**
 * Bytes of a manifest: the function of the state machine holds one in memory, and AWS does not say how long SageMaker
 * takes one.
 */
export const MANIFEST_BYTES = 32 * 1024 ** 2;

/** What is taken for true until a probe has run. */
export const ASSUMED_FACTS: TransformFacts = {
  layout: 'key',
  lostNames: [],
  manifestBytes: MANIFEST_BYTES,
  deletedKeyStopsJob: false,
  badInputStopsJob: false,
  emptyIsAnswered: false,
  largeIsAnswered: false,
};

/** Reads facts. @param name of the object, for messages @throws BatchError FACTS_INVALID */
export function parseFacts(text: string, name: string): TransformFacts {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new BatchError(
      'FACTS_INVALID',
      `${name} is not what batch probe wrote. Run batch probe again, or remove the object.`,
      { cause },
    );
  }
}

/** The prefix below which outputs lie under the keys of their inputs. @param root prefix that those keys are below */
export function outputRoot(
  output: S3Location,
  root: S3Location,
  { layout }: TransformFacts,
): S3Location {
  return layout === 'wholeKey' ? { ...output, key: output.key + root.key } : output;
}

/** Kinds that a name is of. */
export function kindsOf(key: string): NameKind[] {
  return NAME_KINDS.filter((kind) => HAS_KIND[kind].test(key));
}

/** Why the output of an input could not be found; undefined if it can. @param key below the input prefix */
export function whyNotFound(
  key: string,
  { layout, lostNames }: TransformFacts,
): string | undefined {
  if (layout === 'unknown') {
    return 'batch probe could not tell where outputs lie';
  }
  if (layout === 'name' && key.includes('/')) {
    return `outputs lie under the last part of a name, so those of two folders could be one (batch probe); give a prefix without folders`;
  }
  const lost = kindsOf(key).find((kind) => lostNames.includes(kind));
  if (lost === undefined) return undefined;
  return `the output of such a name (${lost}) would not lie at its name and ${OUTPUT_SUFFIX} (batch probe)`;
}
