/** The variables of a SavedModel, from the index of its checkpoint (tensor_bundle.proto). */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { missingVariables } from '@sagemaker-tfs/libtensorflow/graph';
import { DTYPES, dtypeOfEnum, enumName } from '@sagemaker-tfs/tensors';
import {
  BundleEntryProtoSchema,
  BundleHeaderProtoSchema,
  readMessage,
} from '@sagemaker-tfs/tensors/protos';
import { damaged, messageOf, PackagingError } from '../errors.ts';
import { readTable, type TableEntry } from './sstable.ts';

/** One tensor of the checkpoint. */
export interface VariableSummary {
  /** Its key in the checkpoint; TF2's `/.ATTRIBUTES/VARIABLE_VALUE` is left out. */
  readonly name: string;
  /** `float32`, or the enum name where this project does not carry the dtype. */
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** The checkpoint of a SavedModel. */
export interface CheckpointSummary {
  readonly variables: readonly VariableSummary[];
  /** Data files that the index needs, with the bytes that each must have at least. */
  readonly shards: readonly { readonly file: string; readonly minBytes: number }[];
}

/** Their names have five digits. */
const MAX_SHARDS = 100_000;

/** TF2's object graph, kept as one string tensor among the variables. */
const OBJECT_GRAPH_KEY = '_CHECKPOINTABLE_OBJECT_GRAPH';

/**
 * Reads `variables/variables.index`; undefined if the model has no variables.
 * @throws PackagingError CORRUPT_FILE naming the path
 */
export function readCheckpoint(directory: string): CheckpointSummary | undefined {
  const path = join(directory, 'variables', 'variables.index');
  if (!existsSync(path)) return undefined;
  const [header, ...entries] = readTable(path);
  if (!header || header.key.length > 0) throw damaged(path, 'it has no header');
  const { numShards } = decodeIn(path, BundleHeaderProtoSchema, header.value);
  if (numShards < 0 || numShards > MAX_SHARDS) throw damaged(path, `it has ${numShards} shards`);
  return summarize(path, entries, numShards);
}

function decodeIn<Desc extends DescMessage>(
  path: string,
  schema: Desc,
  bytes: Uint8Array,
): MessageShape<Desc> {
  try {
    return readMessage(schema, bytes);
  } catch (error) {
    throw damaged(path, messageOf(error), error);
  }
}

/**
 * Checks that the data files of the checkpoint are there and whole.
 * @throws PackagingError MISSING_FILE or CORRUPT_FILE naming the path
 */
export function checkShards(directory: string, { shards }: CheckpointSummary): void {
  for (const { file, minBytes } of shards) {
    const path = join(directory, 'variables', file);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) {
      throw new PackagingError(
        'MISSING_FILE',
        `${path} is missing, which variables.index names. Export or copy the model again, with all of variables/.`,
      );
    }
    if (stat.size < minBytes) {
      throw damaged(path, `it has ${stat.size} bytes of ${minBytes}`);
    }
  }
}

/** @throws PackagingError MISSING_FILE if a model without a checkpoint has variables */
export function checkNoVariables(directory: string): void {
  const path = missingVariables(directory);
  if (path === undefined) return;
  throw new PackagingError(
    'MISSING_FILE',
    `${path} is missing, which the model's variables are restored from. Export or copy the model again, with all of variables/.`,
  );
}

function summarize(
  path: string,
  entries: readonly TableEntry[],
  numShards: number,
): CheckpointSummary {
  const variables: VariableSummary[] = [];
  const minBytes = new Array<number>(numShards).fill(0);
  for (const { key, value } of entries) {
    const entry = decodeIn(path, BundleEntryProtoSchema, value);
    const end = Number(entry.offset + entry.size);
    if (entry.shardId < 0 || entry.shardId >= numShards) {
      throw damaged(path, `it names shard ${entry.shardId} of ${numShards}`);
    }
    minBytes[entry.shardId] = Math.max(minBytes[entry.shardId] ?? 0, end);
    // Slices of partitioned variables have binary keys that begin with 0; the whole is an entry of its own.
    const name = key.toString('utf8');
    if (key[0] === 0 || name === OBJECT_GRAPH_KEY) continue;
    const dtype = dtypeOfEnum(entry.dtype);
    const shape = (entry.shape?.dim ?? []).map(({ size }) => Number(size));
    const whole = shape.reduce((count, size) => count * size, dtype ? DTYPES[dtype].size : 0);
    variables.push({
      name: name.replace(/\/\.ATTRIBUTES\/VARIABLE_VALUE$/, ''),
      dtype: dtype ?? enumName(entry.dtype),
      shape,
      bytes: entry.slices.length > 0 ? whole : Number(entry.size),
    });
  }
  const shards = minBytes.map((bytes, i) => ({ file: shardName(i, numShards), minBytes: bytes }));
  return { variables, shards };
}

function shardName(index: number, count: number): string {
  const digits = (value: number) => String(value).padStart(5, '0');
  return `variables.data-${digits(index)}-of-${digits(count)}`;
}
