/** A model package of the Model Registry, as CreateModelPackage takes it. */
import type { CreateModelPackageCommandInput } from '@aws-sdk/client-sagemaker';
import type { Manifest } from '@sagemaker-tfs/manifest';
import type { Evidence } from './evidence.ts';

/** Who decides whether a version may be deployed. */
const APPROVALS = {
  pending: 'PendingManualApproval',
  approved: 'Approved',
  rejected: 'Rejected',
} as const;
export type Approval = keyof typeof APPROVALS;

/** Names in a package's metadata by which this command finds a version again. */
export const METADATA = { fingerprint: 'fingerprint', image: 'image' } as const;

/** What a version is made from. */
interface PackageFacts {
  readonly group: string;
  readonly description: string | undefined;
  readonly image: string;
  /** `s3://BUCKET/KEY.tar.gz`. */
  readonly archiveUri: string;
  readonly fingerprint: string;
  readonly manifest: Manifest;
  readonly environment: Readonly<Record<string, string>>;
  readonly contentTypes: readonly string[];
  readonly responseTypes: readonly string[];
  readonly instanceTypes: readonly string[];
  readonly evidence: Evidence;
  /** Where the evidence's document lies; undefined if there is none. */
  readonly metricsUri: string | undefined;
  readonly approval: Approval;
  /** Version of this command. */
  readonly command: string;
}

/** Characters that SageMaker takes in a metadata value, and how many. */
const VALUE = /[^\p{L}\p{Z}\p{N}_.:/=+\-@]/gu;
const VALUE_LENGTH = 256;

/**
 * The request for a version.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModelPackage.html
 */
export function packageRequest(facts: PackageFacts): CreateModelPackageCommandInput {
  const { group, description, image, archiveUri, environment, metricsUri } = facts;
  const types = [...facts.instanceTypes] as 'ml.m5.xlarge'[];
  return {
    ModelPackageGroupName: group,
    ...(description !== undefined && { ModelPackageDescription: description }),
    ModelApprovalStatus: APPROVALS[facts.approval],
    InferenceSpecification: {
      Containers: [
        {
          Image: image,
          ModelDataUrl: archiveUri,
          Framework: 'TENSORFLOW',
          ...(Object.keys(environment).length > 0 && { Environment: { ...environment } }),
        },
      ],
      SupportedContentTypes: [...facts.contentTypes],
      SupportedResponseMIMETypes: [...facts.responseTypes],
      ...(types.length > 0 && { SupportedRealtimeInferenceInstanceTypes: types }),
    },
    CustomerMetadataProperties: metadataOf(facts),
    ...(metricsUri !== undefined && {
      ModelMetrics: {
        ModelQuality: { Statistics: { ContentType: 'application/json', S3Uri: metricsUri } },
      },
    }),
  };
}

function metadataOf({ fingerprint, image, manifest, command, evidence }: PackageFacts) {
  const models = manifest.models.map(({ name, versions }) => `${name}:${versions.join('+')}`);
  const texts: Record<string, string> = {
    [METADATA.fingerprint]: fingerprint,
    [METADATA.image]: image,
    models: models.join(' '),
    packager: `${manifest.packager.name} ${manifest.packager.version}`,
    registered_by: `sagemaker-tfs ${command}`,
    ...Object.fromEntries(
      Object.entries(evidence.facts).map(([name, value]) => [name, String(rounded(value))]),
    ),
  };
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, metadataValue(value)]),
  );
}

/** A text as SageMaker takes it in metadata: other characters become `_`, the end is cut off. */
export function metadataValue(text: string): string {
  return [...text.replace(VALUE, '_')].slice(0, VALUE_LENGTH).join('') || '-';
}

/** Six significant digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(6));
}
