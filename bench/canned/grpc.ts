/** The canned model server's gRPC side. */
import { create, toBinary } from '@bufbuild/protobuf';
import { AnySchema, Int64ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  DTYPES,
  type DType,
  decodePredictRequest,
  encodePredictResponse,
} from '@sagemaker-tfs/tensors';
import * as protos from '@sagemaker-tfs/tensors/protos';
import type { CannedCase } from './cases.ts';
import { serveHttp2 } from './http2-server.ts';

/** Answers Predict, GetModelMetadata and GetModelStatus on ports and paths of Unix domain sockets. */
export function serveGrpc(
  canned: CannedCase,
  model: string,
  addresses: readonly (number | string)[],
): void {
  const replies = new Map<string, readonly Uint8Array[]>();
  const methods: Methods = {
    [protos.GRPC_METHODS.predict]: (body) => {
      const wanted = decodePredictRequest(body).outputs ?? Object.keys(canned.outputs);
      const key = wanted.join();
      const known = replies.get(key) ?? predictReply(canned, model, wanted);
      replies.set(key, known);
      return known;
    },
    [protos.GRPC_METHODS.getModelMetadata]: () => [metadata(canned, model)],
    [protos.GRPC_METHODS.getModelStatus]: () => [status()],
  };
  for (const address of addresses) {
    serveHttp2((path, body) => methods[path]?.(body), address);
  }
}

type Methods = Readonly<Record<string, (body: Uint8Array) => readonly Uint8Array[]>>;

function predictReply(canned: CannedCase, model: string, wanted: readonly string[]) {
  const outputs = Object.fromEntries(
    Object.entries(canned.outputs).filter(([name]) => wanted.includes(name)),
  );
  return encodePredictResponse({
    model: { name: model, version: '1' },
    signature: 'serving_default',
    outputs,
  });
}

function metadata(canned: CannedCase, model: string): Uint8Array {
  const map = create(protos.SignatureDefMapSchema, {
    signatureDef: {
      serving_default: {
        methodName: 'tensorflow/serving/predict',
        inputs: tensorInfos(canned.inputs),
        outputs: tensorInfos(canned.outputs),
      },
    },
  });
  const reply = create(protos.GetModelMetadataResponseSchema, {
    modelSpec: {
      name: model,
      versionChoice: { case: 'version', value: create(Int64ValueSchema, { value: 1n }) },
    },
    metadata: {
      signature_def: create(AnySchema, {
        typeUrl: protos.SIGNATURE_DEF_MAP_TYPE_URL,
        value: toBinary(protos.SignatureDefMapSchema, map),
      }),
    },
  });
  return toBinary(protos.GetModelMetadataResponseSchema, reply);
}

function status(): Uint8Array {
  const reply = create(protos.GetModelStatusResponseSchema, {
    modelVersionStatus: [{ version: 1n, state: protos.ModelVersionStatus_State.AVAILABLE }],
  });
  return toBinary(protos.GetModelStatusResponseSchema, reply);
}

function tensorInfos(
  tensors: Readonly<Record<string, { dtype: DType; shape: readonly number[] }>>,
) {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, { dtype, shape }]) => [
      name,
      {
        encoding: { case: 'name' as const, value: `${name}:0` },
        dtype: DTYPES[dtype].enumValue as protos.DataType,
        tensorShape: { dim: shape.map((size) => ({ size: BigInt(size) })) },
      },
    ]),
  );
}
