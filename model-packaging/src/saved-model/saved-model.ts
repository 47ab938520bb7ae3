/** What a `saved_model.pb` says of itself, read without TensorFlow and without loading its constants. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type SignatureMap, signaturesOf } from '@sagemaker-tfs/tensors';
import {
  AssetFileDefSchema,
  MetaGraphDef_MetaInfoDefSchema,
  type SignatureDef,
  SignatureDefSchema,
} from '@sagemaker-tfs/tensors/protos';
import { PackagingError } from '../errors.ts';
import { decode } from './decode.ts';
import { type GraphSummary, readGraph } from './graph.ts';
import { LENGTH_DELIMITED, type Span, type WireFile, withSavedModelFile } from './wire.ts';

/** One MetaGraphDef: the graph as exported for one set of tags. */
export interface MetaGraphSummary {
  /** Sorted, usually `['serve']`. */
  readonly tags: readonly string[];
  /** Version of the TensorFlow that wrote it; empty if unknown. */
  readonly tensorflowVersion: string;
  readonly signatures: SignatureMap;
  /** The same as TensorFlow's messages, with defaults, and with the initializer's entry. */
  readonly signatureDefs: Readonly<Record<string, SignatureDef>>;
  /** Files of `assets/`, in the order of the SavedModel. */
  readonly assets: readonly AssetSummary[];
  readonly graph: GraphSummary;
  /** Where the object graph (TF2) lies in the file; undefined in TF1 models. */
  readonly objectGraph: Span | undefined;
}

/** A file that the graph reads from `assets/`. */
interface AssetSummary {
  readonly filename: string;
  /** The graph's tensor that carries its path. */
  readonly tensorName: string;
}

/** A `saved_model.pb`. */
export interface SavedModelSummary {
  /** Path of the `saved_model.pb`. */
  readonly path: string;
  readonly schemaVersion: number;
  readonly metaGraphs: readonly MetaGraphSummary[];
}

/** The tag of graphs exported for serving (`tf.saved_model.SERVING`). */
export const SERVING_TAG = 'serve';

/** What was read of a file, as long as it is the same file. Packaging, warm-up and samples ask for the same models. */
const known = new Map<string, { readonly identity: string; readonly model: SavedModelSummary }>();
/** As many versions as most archives have; beyond them the oldest goes. */
const MAX_KNOWN = 16;

/**
 * Reads `<directory>/saved_model.pb`, once as long as it does not change.
 * @throws PackagingError NOT_A_SAVED_MODEL, TEXT_FORMAT or CORRUPT_FILE, naming the path
 */
export function readSavedModel(directory: string): SavedModelSummary {
  const path = join(directory, 'saved_model.pb');
  if (!existsSync(path)) throw notASavedModel(directory);
  const identity = identityOf(path);
  const found = known.get(path);
  if (found?.identity === identity) return found.model;
  const model = parseSavedModel(path);
  known.delete(path);
  known.set(path, { identity, model });
  for (const oldest of known.keys()) if (known.size > MAX_KNOWN) known.delete(oldest);
  return model;
}

function identityOf(path: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function parseSavedModel(path: string): SavedModelSummary {
  return withSavedModelFile(path, (file) => {
    const metaGraphs: MetaGraphSummary[] = [];
    let schemaVersion = 0;
    for (const field of file.fields({ start: 0, end: file.size })) {
      if (field.number === 1) schemaVersion = Number(field.varint);
      else if (field.number === 2 && field.wireType === LENGTH_DELIMITED) {
        metaGraphs.push(readMetaGraph(file, field));
      }
    }
    if (metaGraphs.length === 0) {
      throw new PackagingError(
        'CORRUPT_FILE',
        `${path} holds no graph in its ${file.size} bytes. Export or copy the model again.`,
      );
    }
    return { path, schemaVersion, metaGraphs };
  });
}

/** The graph with the `serve` tag. @throws PackagingError NOT_A_SAVED_MODEL if there is none */
export function servingGraph(model: SavedModelSummary): MetaGraphSummary {
  const graph = model.metaGraphs.find(({ tags }) => tags.length === 1 && tags[0] === SERVING_TAG);
  if (graph) return graph;
  const tags = model.metaGraphs.map((metaGraph) => `[${metaGraph.tags.join(', ')}]`).join(', ');
  throw new PackagingError(
    'NOT_A_SAVED_MODEL',
    `${model.path} has no graph tagged '${SERVING_TAG}', only ${tags}, so TensorFlow Serving would not load it. Export it for serving (tf.saved_model.save, or SavedModelBuilder with tags=[tf.saved_model.SERVING]).`,
  );
}

/** The error for a directory without `saved_model.pb`; other formats get their own advice. */
export function notASavedModel(directory: string): PackagingError {
  const text = join(directory, 'saved_model.pbtxt');
  if (existsSync(text)) {
    return new PackagingError(
      'TEXT_FORMAT',
      `${text} is a SavedModel in text format. Export it in binary format: tf.saved_model.save(model, directory), or builder.save(as_text=False).`,
    );
  }
  const chunked = join(directory, 'saved_model.cpb');
  if (existsSync(chunked)) {
    return new PackagingError(
      'NOT_A_SAVED_MODEL',
      `${chunked} is a SavedModel in chunks, which are not supported. Export it in one file: keep large constants in variables, and leave experimental_image_format out.`,
    );
  }
  return new PackagingError(
    'NOT_A_SAVED_MODEL',
    `${directory} holds no saved_model.pb. Give the directory that tf.saved_model.save or model.export wrote, or the one above its version directories.`,
  );
}

function readMetaGraph(file: WireFile, span: Span): MetaGraphSummary {
  let tags: string[] = [];
  let tensorflowVersion = '';
  const signatureDefs = new Map<string, SignatureDef>();
  const assets: AssetSummary[] = [];
  let graph: GraphSummary | undefined;
  let objectGraph: Span | undefined;
  for (const field of file.fields(span)) {
    switch (field.number) {
      case 1: {
        const info = decode(file, MetaGraphDef_MetaInfoDefSchema, field);
        tags = [...info.tags].sort();
        tensorflowVersion = info.tensorflowVersion;
        break;
      }
      case 2:
        graph = readGraph(file, field);
        break;
      case 5: {
        const [key, value] = readMapEntry(file, field);
        signatureDefs.set(key, decode(file, SignatureDefSchema, value));
        break;
      }
      case 6: {
        const asset = decode(file, AssetFileDefSchema, field);
        const encoding = asset.tensorInfo?.encoding;
        const tensorName = encoding?.case === 'name' ? encoding.value : '';
        assets.push({ filename: asset.filename, tensorName });
        break;
      }
      case 7:
        objectGraph = field;
        break;
    }
  }
  const defs = Object.fromEntries(signatureDefs);
  return {
    tags,
    tensorflowVersion,
    signatures: signaturesOf(defs),
    signatureDefs: defs,
    assets,
    graph: graph ?? { producer: 0, minConsumer: 0, ops: new Map(), functions: 0, nodes: 0 },
    objectGraph,
  };
}

/** The key and the value's span of one entry of a `map<string, message>`. */
function readMapEntry(file: WireFile, span: Span): [string, Span] {
  let key = '';
  let value: Span = { start: span.end, end: span.end };
  for (const field of file.fields(span)) {
    if (field.number === 1) key = file.text(field);
    if (field.number === 2) value = field;
  }
  return [key, value];
}
