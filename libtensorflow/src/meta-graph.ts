/** The MetaGraphDef that TensorFlow hands back when it loads a SavedModel. */
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { type MetaGraphDef, MetaGraphDefSchema, readMessage } from '@sagemaker-tfs/tensors/protos';
import koffi from 'koffi';
import type { Pointer } from './c-api.ts';

/** Field numbers of `graph_def` and `object_graph_def` in tensorflow/core/protobuf/meta_graph.proto. */
const GRAPH_FIELDS: ReadonlySet<number> = new Set([2, 7]);

/** Reads the MetaGraphDef in a `TF_Buffer`, which may be freed afterwards. */
export function readMetaGraph(buffer: Pointer): MetaGraphDef {
  // struct TF_Buffer { const void* data; size_t length; ... } (tensorflow/c/tf_buffer.h)
  const [data = 0n, length = 0n] = new BigUint64Array(koffi.view(buffer, 16));
  return readMessage(
    MetaGraphDefSchema,
    withoutGraphs(new Uint8Array(koffi.view(data, Number(length)))),
  );
}

/**
 * Copies a serialized MetaGraphDef without its two graphs, which make up nearly all of it: parsing them
 * would hold up the event loop for nothing.
 */
function withoutGraphs(bytes: Uint8Array): Uint8Array {
  const kept: Uint8Array[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [field, wireType] = reader.tag();
    reader.skip(wireType);
    if (!GRAPH_FIELDS.has(field)) kept.push(bytes.subarray(start, reader.pos));
  }
  return Buffer.concat(kept);
}
