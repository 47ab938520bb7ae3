/** Reads from a laid-out model what the playground's page shows of it. */
import { join } from 'node:path';
import { usualOutputs } from '@sagemaker-tfs/container/asked-outputs';
import { readRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { checkLabelsSize } from '@sagemaker-tfs/manifest/labels';
import {
  callableSignatures,
  canBeAsked,
  declaredRequest,
  hasRawPixels,
  inspectModel,
  pictureInput,
  pictureText,
  readDeclaredBodies,
  readManifest,
  type SignatureReport,
  servedGraph,
  type TensorReport,
  takesExamples,
  type VersionReport,
} from '@sagemaker-tfs/model-packaging';
import type {
  ExampleInput,
  PictureInput,
  PlaygroundDescription,
  SignatureDescription,
  TensorDescription,
} from '../../../playground/src/index.ts';
import { shownNames } from '../serving/shown-name.ts';
import type { Sample } from './samples.ts';

/** Describes the model that is laid out in `directory` as SageMaker does. @param source what `serve` was called with */
export async function describePlayground(
  directory: string,
  source: string,
  samples: readonly Sample[],
): Promise<PlaygroundDescription> {
  const { models } = await inspectModel(directory);
  const manifest = await readManifest(directory);
  const nameOf = shownNames(models, source);
  return {
    models: models.map(({ name, versions }) => ({
      name,
      title: nameOf(name),
      versions: versions.map(({ version }) => version),
      signatures: signaturesOf(versions.at(-1), manifest),
    })),
    hasHandler: manifest?.handler !== undefined,
    example: exampleIn(directory, manifest),
    hasPostprocess: manifest?.postprocess !== undefined,
    minScore: manifest?.postprocess?.boxes?.threshold ?? null,
    labels: await labelsOf(directory, manifest),
    samples: samples.map(({ name, mediaType }, index) => ({
      name,
      mediaType,
      path: `/playground/samples/${index}`,
    })),
  };
}

function exampleIn(
  directory: string,
  manifest: Manifest | undefined,
): PlaygroundDescription['example'] {
  const declared = manifest?.handler && declaredRequest(readDeclaredBodies(directory));
  if (!declared) return null;
  const { contentType, value } = declared;
  return { contentType, text: JSON.stringify(value, null, 2) };
}

function signaturesOf(
  version: VersionReport | undefined,
  manifest: Manifest | undefined,
): Record<string, SignatureDescription> {
  return Object.fromEntries(
    callableSignatures(servedGraph(version))
      .filter(([, report]) => canBeAsked(report, manifest))
      .map(([key, report]) => [
        key,
        {
          inputs: tensorsOf(report.inputs),
          outputs: tensorsOf(answeredOf(report, manifest)),
          picture: pictureOf(key, report, manifest),
          examples: examplesOf(report, version),
        },
      ]),
  );
}

/** Outputs that the archive answers, by the names that answers show. */
function answeredOf(
  { outputs }: SignatureReport,
  manifest: Manifest | undefined,
): SignatureReport['outputs'] {
  const usual = usualOutputs({ outputs }, manifest?.postprocess);
  const tensors = [...usual].map(([shown, name]) => [shown, outputs[name] as TensorReport]);
  return Object.fromEntries(tensors);
}

function tensorsOf(reports: SignatureReport['inputs']): Record<string, TensorDescription> {
  return Object.fromEntries(
    Object.entries(reports).map(([name, { dtype, shape }]) => [name, { dtype, shape }]),
  );
}

/** Null where the runtime refuses pictures. */
function pictureOf(
  key: string,
  report: SignatureReport,
  manifest: Manifest | undefined,
): PictureInput | null {
  const picture = pictureInput(key, report, manifest?.preprocess);
  if (!picture) return null;
  const isRaw = manifest?.preprocess === undefined && hasRawPixels(picture);
  const pixels = manifest?.handler === undefined ? pictureText(picture) : null;
  if (picture.bytes) {
    return { input: picture.input, resize: 'stretch', pixels, isRaw, declared: null };
  }
  const { input, resize, width, height, layout, channels, scale, offset } = picture;
  const isDeclared = manifest?.preprocess !== undefined && manifest.handler === undefined;
  const declared = isDeclared ? { resize, layout, channels, scale, offset } : null;
  return { input, resize, width, height, pixels, isRaw, declared };
}

function examplesOf(
  report: SignatureReport,
  version: VersionReport | undefined,
): ExampleInput | null {
  const features = version?.exampleFeatures ?? {};
  if (!takesExamples(report) || Object.keys(features).length === 0) return null;
  const [, method = ''] = /(classify|regress)$/.exec(report.methodName) ?? [];
  return { method: method === 'classify' || method === 'regress' ? method : 'predict', features };
}

async function labelsOf(directory: string, manifest: Manifest | undefined): Promise<string[]> {
  const { topK, boxes } = manifest?.postprocess ?? {};
  const file = topK?.labels ?? boxes?.labels;
  if (file === undefined) return [];
  const path = join(directory, 'code', file);
  const bytes = await readRegularFile(path, (size) => checkLabelsSize(size, file)).catch(() => '');
  const text = bytes.toString();
  return text
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.trim());
}
