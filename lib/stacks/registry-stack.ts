/** The Model Registry of a configuration, and what starts its deployments. */
import { parseS3Uri } from '@sagemaker-tfs/batch';
import { ArnFormat, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { RedeployConfig, RegistryConfig } from '../config.ts';
import { setEncryptionKeyArn } from '../encryption.ts';
import { ModelRegistry } from '../model-registry.ts';
import { Redeployment } from '../redeployment.ts';
import { emailTopic } from './email-topic.ts';

/** Props of {@link RegistryStack}. */
export interface RegistryStackProps extends StackProps {
  /** Groups of versions, and who may read or approve them. @default - no groups */
  readonly registry?: RegistryConfig;
  /** What starts deployments. @default - nothing */
  readonly redeploy?: readonly RedeployConfig[];
  /** Customer key of what the stack stores. @default - AWS's own keys */
  readonly encryptionKeyArn?: string;
}

/** Groups of versions, their bucket, and rules that start deployments. */
export class RegistryStack extends Stack {
  constructor(scope: Construct, id: string, props: RegistryStackProps) {
    super(scope, id, props);
    setEncryptionKeyArn(this, props.encryptionKeyArn);
    const { registry, redeploy = [] } = props;
    if (registry) {
      const { groups, readers = [], approvers = [] } = registry;
      const made = new ModelRegistry(this, 'Registry', { groups, readers, approvers });
      new CfnOutput(this, 'RegisterTo', {
        description: 'For register --to',
        value: made.bucket.s3UrlForObject(''),
      });
    }
    redeploy.forEach((config, i) => {
      this.addRedeployment(`Redeploy${i === 0 ? '' : i}`, config);
    });
  }

  private addRedeployment(id: string, config: RedeployConfig): void {
    const { approvedIn, pointer, project, pipeline, alarmEmail } = config;
    const place = pointer === undefined ? undefined : parseS3Uri(pointer);
    new Redeployment(this, id, {
      ...(approvedIn !== undefined && { approvedIn }),
      ...(place && { pointer: { bucketName: place.bucket, key: place.key } }),
      ...(project !== undefined && { project: { projectArn: this.arnOf('codebuild', project) } }),
      ...(pipeline !== undefined && {
        pipeline: { pipelineArn: this.arnOf('codepipeline', pipeline) },
      }),
      ...(alarmEmail !== undefined && { alarmTopic: emailTopic(this, `${id}Alarms`, alarmEmail) }),
    });
  }

  private arnOf(service: 'codebuild' | 'codepipeline', name: string): string {
    return service === 'codebuild'
      ? this.formatArn({ service, resource: 'project', resourceName: name })
      : this.formatArn({ service, resource: name, arnFormat: ArnFormat.NO_RESOURCE_NAME });
  }
}
