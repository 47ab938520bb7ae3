/** What runs of the fuzzer found, kept in `results.json`, which the page is made of and a later run continues from. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EndToEndReport } from './end-to-end.ts';
import type { Outcome, Tried, Way } from './exercise.ts';

const FILE = join(import.meta.dirname, 'results.json');

/** Outcomes by parser. */
export interface Results {
  readonly seed: number;
  readonly outcomes: Readonly<Record<string, Outcome>>;
  /** By backend. */
  readonly endToEnd?: Readonly<Record<string, EndToEndReport>>;
}

/** The kept results of the seed; none where they are another's. */
export function keptResults(seed: number): Results {
  const none: Results = { seed, outcomes: {} };
  if (!existsSync(FILE)) return none;
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as Results;
  return kept.seed === seed ? kept : none;
}

/** Keeps them. */
export function keepResults(results: Results): void {
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
}

/** The same with one part more. */
export function withOutcome(results: Results, more: Outcome): Results {
  const { outcomes } = results;
  const before = outcomes[more.target];
  return {
    ...results,
    outcomes: { ...outcomes, [more.target]: before ? together(before, more) : more },
  };
}

/** Inputs that were tried, in any way. */
export function inputsOf(outcome: Outcome | undefined): number {
  return outcome ? outcome.ways.built.inputs + outcome.ways.changed.inputs : 0;
}

function together(a: Outcome, b: Outcome): Outcome {
  const sum = (way: Way): Tried => ({
    inputs: a.ways[way].inputs + b.ways[way].inputs,
    read: a.ways[way].read + b.ways[way].read,
  });
  return {
    target: a.target,
    ways: { built: sum('built'), changed: sum('changed') },
    slowestMs: Math.max(a.slowestMs, b.slowestMs),
    peakMiB: Math.max(a.peakMiB, b.peakMiB),
    cpuSeconds: a.cpuSeconds + b.cpuSeconds,
    findings: [...a.findings, ...b.findings],
  };
}
