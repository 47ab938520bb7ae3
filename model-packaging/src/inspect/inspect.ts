/** Reads all that a SavedModel says of itself, without TensorFlow. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { decodeTensorProto, enumName, type Signature } from '@sagemaker-tfs/tensors';
import {
  type SignatureDef,
  type TensorProto,
  TensorProtoSchema,
} from '@sagemaker-tfs/tensors/protos';
import { messageOf, PackagingError } from '../errors.ts';
import { walk } from '../files/walk.ts';
import { isCustomOp, KNOWN_TENSORFLOW } from '../saved-model/custom-ops.ts';
import { readExampleFeatures } from '../saved-model/example-features.ts';
import { readFunctions } from '../saved-model/functions.ts';
import { compilingSignatures } from '../saved-model/run-traits.ts';
import {
  type MetaGraphSummary,
  readSavedModel,
  type SavedModelSummary,
  servingGraph,
} from '../saved-model/saved-model.ts';
import {
  type CheckpointSummary,
  checkNoVariables,
  checkShards,
  readCheckpoint,
} from '../saved-model/variables.ts';
import { withSavedModelFile } from '../saved-model/wire.ts';
import type { ModelSource, VersionSource } from '../source/discover.ts';
import type { OpenOptions } from '../source/open-options.ts';
import { withSource } from '../source/open-source.ts';
import { flatValues } from './flat-values.ts';
import type {
  AssetReport,
  InspectReport,
  MetaGraphReport,
  SignatureReport,
  TensorReport,
  VersionReport,
} from './report.ts';

/**
 * Reports on every model and version of a source: a directory, an archive or an `s3://` URI.
 * @throws PackagingError if there is no model or a file is damaged, naming the path
 */
export async function inspectModel(
  source: string,
  options: OpenOptions = {},
): Promise<InspectReport> {
  return withSource(source, options, async ({ models }) => ({
    source,
    models: models.map(({ name, versions }: ModelSource) => ({
      name,
      versions: versions.map(inspectVersion),
    })),
  }));
}

/** Reports on one version. @throws PackagingError naming the path */
export function inspectVersion({ version, directory }: VersionSource): VersionReport {
  const model = readSavedModel(directory);
  const files = walk(directory);
  const checkpoint = readCheckpoint(directory);
  const variables = checkpoint?.variables ?? [];
  return {
    version,
    directory,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    files: files.length,
    metaGraphs: model.metaGraphs.map((graph) => metaGraphReport(graph, directory, model.path)),
    variables,
    variableBytes: variables.reduce((sum, { bytes }) => sum + bytes, 0),
    exampleFeatures: Object.fromEntries(readExampleFeatures(directory)),
    compiledByXla: [
      ...compilingSignatures(directory, model.metaGraphs[0]?.signatures ?? {}),
    ].sort(),
    problems: findProblems(directory, model, checkpoint),
  };
}

function metaGraphReport(
  graph: MetaGraphSummary,
  directory: string,
  path: string,
): MetaGraphReport {
  const { tags, tensorflowVersion, objectGraph } = graph;
  const { producer, minConsumer, nodes, ops } = graph.graph;
  const names = [...ops.keys()].sort();
  return {
    tags,
    tensorflowVersion,
    producer,
    minConsumer,
    signatures: Object.fromEntries(
      Object.entries(graph.signatures)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, signature]) => [key, signatureReport(signature, graph.signatureDefs[key])]),
    ),
    functions: objectGraph
      ? withSavedModelFile(path, (file) => readFunctions(file, objectGraph))
      : [],
    assets: assetReports(graph, directory),
    nodes,
    ops: Object.fromEntries(names.map((name) => [name, ops.get(name) as number])),
    customOps: names.filter(isCustomOp),
  };
}

function signatureReport(signature: Signature, def: SignatureDef | undefined): SignatureReport {
  const { methodName, inputs, outputs } = signature;
  const report = (specs: Signature['inputs'], defaults: SignatureDef['defaults'] = {}) =>
    Object.fromEntries(
      Object.entries(specs).map(([name, { dtype, dtypeEnum, shape, tensorName }]) => {
        const tensor: TensorReport = {
          dtype: dtype ?? enumName(dtypeEnum),
          shape: shape ?? null,
          tensorName,
          ...(Object.hasOwn(defaults, name) && {
            default: defaultValues(defaults[name] as TensorProto),
          }),
        };
        return [name, tensor];
      }),
    );
  return { methodName, inputs: report(inputs, def?.defaults), outputs: report(outputs) };
}

function defaultValues(proto: TensorProto): (number | string | boolean)[] {
  return flatValues(decodeTensorProto(toBinary(TensorProtoSchema, proto)));
}

/** TF1 models list assets twice (collection and asset_file_def); the report lists each file once. */
function assetReports({ assets }: MetaGraphSummary, directory: string): AssetReport[] {
  const names = [...new Set(assets.map(({ filename }) => filename))].sort();
  return names.map((filename) => {
    const stat = statSync(join(directory, 'assets', filename), { throwIfNoEntry: false });
    return { filename, bytes: stat?.size ?? null };
  });
}

/** What keeps a model from being served, as far as its files tell. */
function findProblems(
  directory: string,
  model: SavedModelSummary,
  checkpoint: CheckpointSummary | undefined,
): string[] {
  const problems: string[] = [];
  const attempt = (check: () => void) => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof PackagingError)) throw error;
      problems.push(messageOf(error));
    }
  };
  attempt(() => servingGraph(model));
  attempt(() => {
    if (checkpoint) checkShards(directory, checkpoint);
    else checkNoVariables(directory);
  });
  for (const graph of model.metaGraphs) {
    for (const { filename, bytes } of assetReports(graph, directory)) {
      if (bytes !== null) continue;
      problems.push(`${join(directory, 'assets', filename)} is missing; the graph reads it.`);
    }
    const custom = [...graph.graph.ops.keys()].filter(isCustomOp).sort();
    if (custom.length === 0) continue;
    problems.push(
      `${model.path} uses operations that TensorFlow ${KNOWN_TENSORFLOW} does not have: ${custom.join(', ')}. The model server must be built with them.`,
    );
  }
  return problems;
}
