/** TensorFlow Serving's REST answers about models, parsed. */
import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { byName, fieldWords, wrongFields } from '@sagemaker-tfs/manifest';
import {
  decodeTensorProto,
  dtypeOfEnum,
  enumOfName,
  type SignatureMap,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { TensorProtoSchema } from '@sagemaker-tfs/tensors/protos';
import * as z from 'zod';
import { ServingError } from '../../errors.ts';
import type { ModelVersionStatus } from '../../models/servable.ts';
import type { VersionedSignatures } from '../signature-cache.ts';

const tensorInfo = z.object({
  name: z.string().default(''),
  dtype: z.string(),
  tensor_shape: z.object({
    dim: z.array(z.object({ size: z.coerce.number() })).default([]),
    unknown_rank: z.boolean().default(false),
  }),
});

const metadata = z.object({
  model_spec: z.object({ version: z.string().default('') }),
  metadata: z.object({
    signature_def: z.object({
      signature_def: byName(
        z.object({
          inputs: byName(tensorInfo).default({}),
          outputs: byName(tensorInfo).default({}),
          method_name: z.string().default(''),
          defaults: byName(z.json()).default({}),
        }),
      ),
    }),
  }),
});

const status = z.object({
  model_version_status: z.array(
    z.object({
      version: z.string(),
      state: z.enum(['UNKNOWN', 'START', 'LOADING', 'AVAILABLE', 'UNLOADING', 'END']),
      status: z.object({ error_message: z.string().default('') }),
    }),
  ),
});

/** Characters of an answer that a message shows. */
const MAX_SHOWN = 100;

/** Reads the answer to `GET /v1/models/NAME/metadata`. @throws ServingError INTERNAL naming the field */
export function parseMetadata(answer: string): VersionedSignatures {
  const { model_spec, metadata: fields } = parsed(metadata, answer);
  const signatures: SignatureMap = Object.fromEntries(
    Object.entries(fields.signature_def.signature_def)
      .filter(([key]) => key !== '__saved_model_init_op')
      .map(([key, def]) => [
        key,
        {
          key,
          methodName: def.method_name,
          inputs: tensorSpecs(def.inputs, def.defaults),
          outputs: tensorSpecs(def.outputs, {}),
        },
      ]),
  );
  const defaults = Object.entries(fields.signature_def.signature_def).map(([key, def]) => [
    key,
    tensorsOf(def.defaults),
  ]);
  return {
    signatures,
    version: model_spec.version || undefined,
    defaults: Object.fromEntries(defaults),
  };
}

function tensorsOf(protos: Readonly<Record<string, JsonValue>>): TensorMap {
  const tensors = Object.entries(protos).map(([name, json]) => {
    const proto = fromJson(TensorProtoSchema, json, { ignoreUnknownFields: true });
    return [name, decodeTensorProto(toBinary(TensorProtoSchema, proto))];
  });
  return Object.fromEntries(tensors);
}

/** Reads the answer to `GET /v1/models/NAME`. @throws ServingError INTERNAL naming the field */
export function parseStatus(answer: string): ModelVersionStatus[] {
  return parsed(status, answer).model_version_status.map((version) => ({
    version: version.version,
    state: version.state,
    errorMessage: version.status.error_message,
  }));
}

/** Sorted by name, as the gRPC backend has them. */
function tensorSpecs(
  infos: Readonly<Record<string, z.output<typeof tensorInfo>>>,
  defaults: Readonly<Record<string, JsonValue>>,
) {
  return Object.fromEntries(
    Object.entries(infos)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, info]) => {
        const dtypeEnum = enumOfName(info.dtype);
        const { dim, unknown_rank: unknownRank } = info.tensor_shape;
        return [
          name,
          {
            tensorName: info.name,
            dtype: dtypeOfEnum(dtypeEnum),
            dtypeEnum,
            shape: unknownRank ? undefined : dim.map(({ size }) => size),
            ...(Object.hasOwn(defaults, name) ? { hasDefault: true as const } : {}),
          },
        ];
      }),
  );
}

function parsed<T>(schema: z.ZodType<T>, answer: string): T {
  const result = schema.safeParse(jsonOf(answer), { error: fieldWords });
  if (result.success) return result.data;
  const fields = wrongFields(result.error, 'the answer').join('; ');
  throw new ServingError(
    'INTERNAL',
    `the model server describes its models as TensorFlow Serving does not: ${fields}. Check what listens on its REST port.`,
    { cause: result.error },
  );
}

/** The beginning of the text itself if it is no JSON: the schema then says that it is no object. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, MAX_SHOWN);
  }
}
