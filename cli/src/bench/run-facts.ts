/** Where, when and on which model something was measured: what two results must share to be compared. */
import { cpus, platform, release, totalmem } from 'node:os';
import * as z from 'zod';
import { packageVersion } from '../files.ts';

/** The machine that measured, or sent the load. */
const machineSchema = z.object({
  cpu: z.string(),
  cores: z.number().int().positive(),
  memoryGiB: z.number().nonnegative(),
  platform: z.string(),
  node: z.string(),
  /** Version of this command. */
  command: z.string(),
});

/** What an answer said of the model. */
const modelSchema = z.object({
  /** First 16 digits of the archive's fingerprint; absent for a model without a manifest. */
  fingerprint: z.string().optional(),
  version: z.string().optional(),
  /** What stood behind the runtime, if that is known. */
  server: z.string().optional(),
});

/** Facts of a run. */
export const runFactsSchema = z.object({
  /** ISO 8601, UTC. */
  date: z.string(),
  machine: machineSchema,
  model: modelSchema,
});
export type RunFacts = z.output<typeof runFactsSchema>;
export type Machine = z.output<typeof machineSchema>;

/** Of this machine, now. @param attributes custom attributes of an answer */
export function runFacts(
  attributes: Readonly<Record<string, string>> = {},
  server?: string,
): RunFacts {
  const { 'tfs-fingerprint': fingerprint, 'tfs-model-version': version } = attributes;
  return {
    date: new Date().toISOString(),
    machine: thisMachine(),
    model: {
      ...(fingerprint && { fingerprint }),
      ...(version && { version }),
      ...(server && { server }),
    },
  };
}

function thisMachine(): Machine {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() || process.arch,
    cores: Math.max(1, processors.length),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${platform()} ${release().replace(/-.*/, '')}`,
    node: process.versions.node,
    command: packageVersion(),
  };
}
