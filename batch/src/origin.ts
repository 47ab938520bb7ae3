/**
 * What made the outputs below a prefix. An output says nothing of its model, so this is written beside them: outputs of
 * another model, or of settings that change answers, are not taken for finished work.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Existing } from './existing.ts';
import { RUNS_FOLDER } from './outputs.ts';
import type { TransformSettings } from './settings.ts';

/** Settings that change what an answer is, or how it is written. */
const DECISIVE = [
  'contentType',
  'accept',
  'splitType',
  'batchStrategy',
  'assembleWith',
  'compressionType',
  'joinSource',
  'inputFilter',
  'outputFilter',
  'environment',
] as const satisfies readonly (keyof TransformSettings)[];

/** The settings of a run that decide its answers. */
export type DecisiveSettings = Partial<Pick<TransformSettings, (typeof DECISIVE)[number]>>;

/** What made outputs. */
export interface Origin {
  /** SHA-256 (hex) of all that decides the answers. */
  readonly fingerprint: string;
  /** The model, as far as a person can tell it. */
  readonly model: string;
  /** Prefix of the inputs; the same outputs may be of several. */
  readonly root: string;
  /** Media type that the outputs were asked for; empty for the runtime's own choice. */
  readonly accept?: string | undefined;
  /**
   * Outputs that are not older are of this origin, milliseconds since 1970. Default: the time when the origin was
   * written; it is given where the origin was put back.
   */
  readonly since?: number | undefined;
}

const schema = z.object({
  fingerprint: z.string(),
  model: z.string(),
  root: z.string(),
  accept: z.string().optional(),
  since: z.number().optional(),
});

/** Outputs that a run with `existing: skip` has mixed; no run takes them for its own. */
export const MIXED = 'mixed';

/**
 * The origin of a run's outputs.
 * @param model names the model and changes with it, such as the name of a SageMaker model or a digest of its files
 * @param root S3 URI or path that keys are relative to
 */
export function originOf(model: string, root: string, settings: DecisiveSettings): Origin {
  const parts = [model, root, ...DECISIVE.map((name) => sorted(settings[name] ?? null))];
  const { accept } = settings;
  return { fingerprint: digest(JSON.stringify(parts)), model, root, ...(accept && { accept }) };
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Reads an origin; undefined if the text is none, which counts as another origin. */
export function parseOrigin(text: string): Origin | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Where the origin of the outputs lies, below the output prefix. */
export function originKey(root: string): string {
  return `${RUNS_FOLDER}origins/${digest(root).slice(0, 16)}.json`;
}

/** What a run must write as the origin before its first output; undefined if the one there stays. */
export function nextOrigin(
  there: Origin | undefined,
  own: Origin,
  existing: Existing,
): Origin | undefined {
  if (there?.fingerprint === own.fingerprint) return undefined;
  // Without a record nothing is known of outputs that are there: they may be of another model.
  return existing === 'skip' ? { ...own, fingerprint: MIXED } : own;
}
