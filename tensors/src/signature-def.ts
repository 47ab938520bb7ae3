/** From TensorFlow's SignatureDef messages to the {@link Signature} contract. */
import { dtypeOfEnum } from './dtype.ts';
import type {
  MetaGraphDef,
  SignatureDef,
  TensorInfo,
  TensorShapeProto,
} from './gen/tensorflow_pb.ts';
import type { Signature, SignatureMap, TensorSpec } from './signature.ts';

/** The entry that `tf.saved_model.save` adds for its initializer: an op to run, not something to call. */
const INIT_OP_KEY = '__saved_model_init_op';

/** The signatures of a SavedModel's MetaGraphDef, by key. */
export function signatureMapOf(metaGraph: MetaGraphDef): SignatureMap {
  return signaturesOf(metaGraph.signatureDef);
}

/** The same from a map of SignatureDef messages, for example of a GetModelMetadataResponse. */
export function signaturesOf(defs: Readonly<Record<string, SignatureDef>>): SignatureMap {
  return Object.fromEntries(
    Object.entries(defs)
      .filter(([key]) => key !== INIT_OP_KEY)
      .map(([key, def]) => [key, signatureOf(key, def)]),
  );
}

function signatureOf(key: string, def: SignatureDef): Signature {
  return {
    key,
    methodName: def.methodName,
    inputs: withDefaults(tensorSpecsOf(def.inputs), def),
    outputs: tensorSpecsOf(def.outputs),
  };
}

function withDefaults(
  inputs: Record<string, TensorSpec>,
  { defaults }: SignatureDef,
): Record<string, TensorSpec> {
  const entries = Object.entries(inputs).map(([name, spec]): [string, TensorSpec] =>
    Object.hasOwn(defaults, name) ? [name, { ...spec, hasDefault: true }] : [name, spec],
  );
  return Object.fromEntries(entries);
}

function tensorSpecsOf(infos: Readonly<Record<string, TensorInfo>>): Record<string, TensorSpec> {
  return Object.fromEntries(
    Object.entries(infos)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, info]) => [name, tensorSpecOf(info)]),
  );
}

/** `tensorName` is empty for sparse and composite tensors, which have several. */
function tensorSpecOf(info: TensorInfo): TensorSpec {
  return {
    tensorName: info.encoding.case === 'name' ? info.encoding.value : '',
    dtype: dtypeOfEnum(info.dtype),
    dtypeEnum: info.dtype,
    shape: shapeOf(info.tensorShape),
  };
}

function shapeOf(shape: TensorShapeProto | undefined): number[] | undefined {
  if (!shape || shape.unknownRank) return undefined;
  return shape.dim.map((dim) => Number(dim.size));
}
