/** Configurations that hold every possible pair of choices, and their templates. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baselineOf, gatherer, parseCapture } from '@sagemaker-tfs/container/captures';
import type { App } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig } from '../../lib/index.ts';
import { testApp } from '../support/stacks.ts';
import { type Choice, CONFLICTS, choices, imageOf } from './choices.ts';
import { coverPairs } from './pairs.ts';

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

/** A template's resources. */
export type MatrixTemplate = Readonly<Record<string, Resource>>;

/** One configuration with the templates of its stacks. */
export interface Configured {
  readonly config: object;
  readonly templates: readonly MatrixTemplate[];
}

/** A baseline of one capture. */
function writeBaseline(): string {
  const all = gatherer();
  const data = JSON.stringify({ instances: [1] });
  const endpointInput = { observedContentType: 'application/json', data, encoding: 'JSON' };
  all.add(parseCapture(JSON.stringify({ captureData: { endpointInput }, eventMetadata: {} })));
  const file = join(mkdtempSync(join(tmpdir(), 'matrix-')), 'baseline.json');
  writeFileSync(file, JSON.stringify(baselineOf(all.gathered())));
  return file;
}

const all = Object.entries(choices(writeBaseline()));

/** The configuration of a row. */
function configOf(row: readonly number[]): object {
  const chosen = all.map(([, ones], field): Choice => ones[row[field] ?? 0] ?? {});
  const part = (name: Exclude<keyof Choice, 'image'>): Record<string, unknown> =>
    Object.assign({}, ...chosen.map((one) => one[name] ?? {}));
  const endpoint = part('endpoint');
  const { instanceTypes, instanceType = 'ml.g4dn.xlarge', serverless } = endpoint;
  const type = serverless ? undefined : String(instanceTypes ?? instanceType);
  const kind = chosen.find((one) => one.image)?.image;
  const image = imageOf(kind, type);
  // Jobs run on the image of the endpoint, unless images are built.
  const jobs = kind === 'built' || JSON.stringify(image).includes('gpu') ? {} : CPU_JOBS;
  const model = {
    ...part('model'),
    endpoint,
    ...(chosen.some((one) => one.batch) && { batch: { ...jobs, ...part('batch') } }),
    ...(chosen.some((one) => one.batchWorker) && { batchWorker: part('batchWorker') }),
  };
  return { image, models: { m: model }, ...part('rest') };
}

const CPU_JOBS = { instanceType: 'ml.c6i.xlarge', fallbackInstanceTypes: ['ml.m5.xlarge'] };

const isRefusal = (error: unknown) => (error as Error).name === 'ConfigurationError';

/** Why the constructs refuse a row. */
function conflictOf(row: readonly number[]): string | undefined {
  const choice = (name: string) => row[all.findIndex(([field]) => field === name)] ?? 0;
  return CONFLICTS.find(({ of }) => of(choice))?.why;
}

/** Whether schema and rules take it; what is built of it may still be refused. */
function parses(row: readonly number[]): boolean {
  try {
    parseConfig(configOf(row), 'matrix');
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
}

/** The app of a configuration; undefined if it is refused with its reason, and not by a fault of ours. */
function appOf(config: object): App | undefined {
  const app = testApp();
  try {
    addServingStacks(app, parseConfig(config, 'matrix'));
    return app;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return undefined;
  }
}

/** Configurations, and why pairs of choices never stand together. */
export interface Matrix {
  readonly configured: readonly Configured[];
  /** Pairs that schema, rules or constructs refuse. */
  readonly impossible: readonly string[];
  /** Of each conflict a configuration that only the constructs can refuse. */
  readonly conflicts: ReadonlyMap<string, object>;
}

/** Rows of every possible pair, as configurations with their templates. */
export function matrix(): Matrix {
  const apps = new Map<string, App | undefined>();
  const find = (row: readonly number[]) => {
    const key = row.join();
    if (!apps.has(key)) apps.set(key, appOf(configOf(row)));
    return apps.get(key);
  };
  const conflicts = new Map<string, object>();
  const maybe = (row: readonly number[]) => {
    if (!parses(row)) return false;
    const why = conflictOf(row);
    if (why === undefined) return true;
    if (!conflicts.has(why)) conflicts.set(why, configOf(row));
    return false;
  };
  const sizes = all.map(([, ones]) => ones.length);
  const { rows, impossible } = coverPairs(sizes, (row) => find(row) !== undefined, maybe);
  const configured = rows.map((row) => {
    const app = find(row);
    return { config: configOf(row), templates: app ? templatesOf(app) : [] };
  });
  const named = impossible.map((row) =>
    row.flatMap((choice, field) => (choice === 0 ? [] : [`${all[field]?.[0]} ${choice}`])).join(),
  );
  return { configured, impossible: named, conflicts };
}

/** Whether the constructs refuse a configuration. */
export const refuses = (config: object): boolean => appOf(config) === undefined;

/** Templates of all stacks of an app, those of its stages too. */
export function templatesOf(app: App): MatrixTemplate[] {
  const stacks = app.synth().stacksRecursively;
  return stacks.map(({ templateFullPath }) => {
    const { Resources } = JSON.parse(readFileSync(templateFullPath, 'utf8')) as {
      Resources: MatrixTemplate;
    };
    return Resources;
  });
}
