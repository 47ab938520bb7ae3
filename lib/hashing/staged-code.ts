/** Code of a Lambda function or layer that this package makes itself, under a hash that it knows beforehand. */
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import { FileAssetPackaging, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type StagedDirectoryProps, stagedDirectory } from './staged-directory.ts';

/**
 * What `Code.fromAsset` does with local bundling, less the import of the asset's bucket, which loads the facts
 * of all regions.
 */
export class StagedCode extends Code {
  private readonly props: StagedDirectoryProps;

  constructor(props: StagedDirectoryProps) {
    super();
    this.props = props;
  }

  override bind(scope: Construct): CodeConfig {
    const staging = stagedDirectory(scope, 'Code', this.props);
    const stack = Stack.of(scope);
    const { bucketName, objectKey } = stack.synthesizer.addFileAsset({
      sourceHash: staging.assetHash,
      fileName: staging.relativeStagedPath(stack),
      packaging: FileAssetPackaging.ZIP_DIRECTORY,
      displayName: `${scope.node.path}/Code`,
    });
    return { s3Location: { bucketName, objectKey } };
  }
}
