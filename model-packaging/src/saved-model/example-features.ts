/** The features of tf.Example messages that a graph parses: its ParseExample nodes tell names, dtypes and shapes. */
import { join } from 'node:path';
import { type DType, dtypeOfEnum } from '@sagemaker-tfs/tensors';
import {
  type AttrValue,
  type NodeDef,
  NodeDefSchema,
  type TensorShapeProto,
} from '@sagemaker-tfs/tensors/protos';
import { decode } from './decode.ts';
import { LENGTH_DELIMITED, type Span, type WireFile, withSavedModelFile } from './wire.ts';

/** One feature. */
export interface ExampleFeature {
  readonly dtype: DType;
  /** Values that an example holds; 1 where it may hold any number. */
  readonly count: number;
}

/** Features by name. */
export type ExampleFeatures = ReadonlyMap<string, ExampleFeature>;

/**
 * Reads the features of every ParseExample operation of a SavedModel, those in its functions too. Where two name the
 * same feature, the first counts; a feature that another one does not parse does not disturb it.
 * @param directory the one with `saved_model.pb`
 * @throws PackagingError CORRUPT_FILE
 */
export function readExampleFeatures(directory: string): ExampleFeatures {
  return withSavedModelFile(join(directory, 'saved_model.pb'), (file) => {
    const features = new Map<string, ExampleFeature>();
    for (const graph of graphsIn(file)) {
      for (const [name, feature] of featuresOf(graph)) {
        if (!features.has(name)) features.set(name, feature);
      }
    }
    return features;
  });
}

/** Nodes that are wanted from one graph or function: what parses, and the constants it may name. */
interface Nodes {
  readonly parsers: readonly NodeDef[];
  readonly constant: (name: string) => NodeDef | undefined;
}

/** SavedModel: meta_graphs = 2; MetaGraphDef: graph_def = 2; GraphDef: node = 1, library = 2; function = 1, node_def = 3. */
function graphsIn(file: WireFile): Nodes[] {
  const nested = (span: Span, number: number) =>
    [...file.fields(span)].filter(
      (field) => field.number === number && field.wireType === LENGTH_DELIMITED,
    );
  return nested({ start: 0, end: file.size }, 2)
    .flatMap((metaGraph) => nested(metaGraph, 2))
    .flatMap((graph) => [
      nodesOf(file, nested(graph, 1)),
      ...nested(graph, 2)
        .flatMap((library) => nested(library, 1))
        .map((fn) => nodesOf(file, nested(fn, 3))),
    ]);
}

const PARSERS = new Set(['ParseExample', 'ParseExampleV2', 'ParseSingleExample']);

/** NodeDef: name = 1, op = 2. Constants are decoded when they are asked for: most of them are large. */
function nodesOf(file: WireFile, spans: readonly Span[]): Nodes {
  const parsers: NodeDef[] = [];
  const constants = new Map<string, Span>();
  for (const span of spans) {
    let name = '';
    for (const field of file.fields(span)) {
      if (field.number === 1) name = file.text(field);
      if (field.number !== 2) continue;
      const op = file.text(field);
      if (op === 'Const') constants.set(name, span);
      else if (PARSERS.has(op)) parsers.push(decode(file, NodeDefSchema, span));
      break;
    }
  }
  return {
    parsers,
    constant(name) {
      const span = constants.get(name);
      return span && decode(file, NodeDefSchema, span);
    },
  };
}

function featuresOf({ parsers, constant }: Nodes): [string, ExampleFeature][] {
  return parsers.flatMap((node) => {
    const { dense, sparse, ragged } = keysOf(node, constant);
    const denseTypes = typesOf(node.attr.Tdense);
    const shapes = shapesOf(node.attr.dense_shapes);
    return [
      ...named(dense, denseTypes, (i) => countOf(shapes[i])),
      ...named(sparse, typesOf(node.attr.sparse_types), () => 1),
      ...named(ragged, typesOf(node.attr.ragged_value_types), () => 1),
    ];
  });
}

function named(
  keys: readonly string[],
  types: readonly (DType | undefined)[],
  count: (index: number) => number,
): [string, ExampleFeature][] {
  return keys.flatMap((key, i): [string, ExampleFeature][] => {
    const dtype = types[i];
    return dtype === undefined ? [] : [[key, { dtype, count: count(i) }]];
  });
}

interface Keys {
  readonly dense: readonly string[];
  readonly sparse: readonly string[];
  readonly ragged: readonly string[];
}

/** Keys are constants in the inputs, of V2 a list each, before it one each; for a single example they are attributes. */
function keysOf({ op, attr, input }: NodeDef, constant: Nodes['constant']): Keys {
  const at = (index: number) => stringsOf(constant(nodeOf(input[index] ?? ''))?.attr.value);
  switch (op) {
    case 'ParseExampleV2':
      // serialized, names, sparse_keys, dense_keys, ragged_keys
      return { sparse: at(2), dense: at(3), ragged: at(4) };
    case 'ParseExample': {
      // serialized, names, then as many of each as Nsparse and Ndense say
      const count = (value: AttrValue | undefined) =>
        value?.value.case === 'i' ? Number(value.value.value) : 0;
      const sparse = count(attr.Nsparse);
      const each = (from: number, n: number) =>
        Array.from({ length: Math.min(n, input.length) }, (_, i) => at(from + i)[0] ?? '');
      return {
        sparse: each(2, sparse),
        dense: each(2 + sparse, count(attr.Ndense)),
        ragged: [],
      };
    }
    default:
      return { sparse: listOf(attr.sparse_keys), dense: listOf(attr.dense_keys), ragged: [] };
  }
}

/** `name:output:0` of functions, `name:0` or `name` of graphs. */
const nodeOf = (input: string) => input.split(':', 1)[0] ?? '';

function stringsOf(value: AttrValue | undefined): string[] {
  if (value?.value.case !== 'tensor') return [];
  return value.value.value.stringVal.map(textOf);
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

const listOf = (value: AttrValue | undefined) =>
  value?.value.case === 'list' ? value.value.value.s.map(textOf) : [];

function typesOf(value: AttrValue | undefined): (DType | undefined)[] {
  return value?.value.case === 'list' ? value.value.value.type.map(dtypeOfEnum) : [];
}

function shapesOf(value: AttrValue | undefined): readonly TensorShapeProto[] {
  return value?.value.case === 'list' ? value.value.value.shape : [];
}

/** Open sizes are 1. */
function countOf(shape: TensorShapeProto | undefined): number {
  return (shape?.dim ?? []).reduce((count, { size }) => count * Math.max(1, Number(size)), 1);
}
