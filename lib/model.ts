/** A SageMaker model, made in the app or there already, as endpoints and batch transforms see it. */
import type { Manifest } from '@sagemaker-tfs/manifest';
import {
  type IGrantable,
  type IPrincipal,
  type IRole,
  UnknownPrincipal,
} from 'aws-cdk-lib/aws-iam';
import { ArnFormat, type IResource, Resource, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { ModelCompression } from './model-data/index.ts';
import { type ExistingImageProps, type IServingImage, imageFacts } from './serving-image.ts';

/** The properties of a model's data that decide on which hosts it runs. */
export interface ModelFacts {
  readonly compression: ModelCompression;
  /** Whether requests name one of many archives. */
  readonly multiModel: boolean;
  /** SHA-256 (hex) of model and handler; undefined: not compared with the answering model's. */
  readonly fingerprint?: string;
  /** What the archive holds, if it was packaged here. */
  readonly manifest?: Manifest;
}

/** A model that serves TensorFlow with this project's container. */
export interface IModel extends IResource, IGrantable {
  /** @attribute */
  readonly modelName: string;
  /** @attribute */
  readonly modelArn: string;
  /** Role that its containers run with; undefined if it is not known: nothing can be granted to it then. */
  readonly role: IRole | undefined;
  readonly image: Pick<IServingImage, 'variant' | 'platform'>;
  readonly data: ModelFacts;
  readonly networkIsolation: boolean;
  /** Whether instances are attached to a VPC. */
  readonly inVpc: boolean;
}

/** Facts about a model that exists already. */
export interface ModelAttributes extends ExistingImageProps {
  readonly modelName: string;
  /**
   * Role of its containers. Endpoints and batch transforms grant it their logs, buckets and keys.
   * @default - not known: it must have every leave already
   */
  readonly role?: IRole;
  /** @default 'gzip' */
  readonly compression?: ModelCompression;
  /** @default false */
  readonly multiModel?: boolean;
  /** @default - the smoke test compares none */
  readonly fingerprint?: string;
  /** @default true */
  readonly networkIsolation?: boolean;
  /** @default false */
  readonly inVpc?: boolean;
}

/** A model by what is known of it. */
export class ImportedModel extends Resource implements IModel {
  readonly modelName: string;
  readonly modelArn: string;
  readonly role: IRole | undefined;
  readonly grantPrincipal: IPrincipal;
  readonly image: IModel['image'];
  readonly data: ModelFacts;
  readonly networkIsolation: boolean;
  readonly inVpc: boolean;

  constructor(scope: Construct, id: string, attributes: ModelAttributes) {
    super(scope, id, { physicalName: attributes.modelName });
    this.modelName = attributes.modelName;
    this.modelArn = modelArn(this, attributes.modelName);
    this.role = attributes.role;
    this.grantPrincipal = attributes.role ?? new UnknownPrincipal({ resource: this });
    this.image = imageFacts(attributes);
    this.data = {
      compression: attributes.compression ?? 'gzip',
      multiModel: attributes.multiModel ?? false,
      ...(attributes.fingerprint && { fingerprint: attributes.fingerprint }),
    };
    this.networkIsolation = attributes.networkIsolation ?? true;
    this.inVpc = attributes.inVpc ?? false;
  }
}

function modelArn(scope: Construct, modelName: string): string {
  return Stack.of(scope).formatArn({
    service: 'sagemaker',
    resource: 'model',
    resourceName: modelName,
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });
}
