/** Code of a Lambda function or layer that this package makes itself, under a hash that it knows beforehand. */
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import {
  AssetHashType,
  AssetStaging,
  BundlingOutput,
  DockerImage,
  FileAssetPackaging,
  Stack,
} from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * What `Code.fromAsset` does with local bundling, less the import of the asset's bucket, which loads the facts
 * of all regions.
 */
export class StagedCode extends Code {
  private readonly sourcePath: string;
  private readonly assetHash: string;
  private readonly write: (directory: string) => void;

  /**
   * @param sourcePath any directory that exists
   * @param assetHash changes with what `write` writes
   * @param write fills a directory; not called where an earlier synthesis did that under the same hash
   */
  constructor(sourcePath: string, assetHash: string, write: (directory: string) => void) {
    super();
    this.sourcePath = sourcePath;
    this.assetHash = assetHash;
    this.write = write;
  }

  override bind(scope: Construct): CodeConfig {
    const staging = new AssetStaging(scope, 'Code', {
      sourcePath: this.sourcePath,
      assetHash: this.assetHash,
      assetHashType: AssetHashType.CUSTOM,
      bundling: {
        // Never pulled: writing the files either works or throws.
        image: DockerImage.fromRegistry('none'),
        outputType: BundlingOutput.NOT_ARCHIVED,
        local: {
          tryBundle: (directory) => {
            this.write(directory);
            return true;
          },
        },
      },
    });
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
