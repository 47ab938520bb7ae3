/** A directory that is written during synthesis, under a hash that is known beforehand. */
import { AssetHashType, AssetStaging, BundlingOutput, DockerImage } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Props of {@link stagedDirectory}. */
export interface StagedDirectoryProps {
  /** Any path that exists. */
  readonly sourcePath: string;
  /** Changes with what `write` writes. */
  readonly assetHash: string;
  /** Fills the directory; not called where an earlier synthesis did that under the same hash. */
  readonly write: (directory: string) => void;
}

/** Stages what `write` writes, in the asset's bundling step. */
export function stagedDirectory(
  scope: Construct,
  id: string,
  { sourcePath, assetHash, write }: StagedDirectoryProps,
): AssetStaging {
  return new AssetStaging(scope, id, {
    sourcePath,
    assetHash,
    assetHashType: AssetHashType.CUSTOM,
    bundling: {
      // Never pulled: writing the files either works or throws.
      image: DockerImage.fromRegistry('none'),
      outputType: BundlingOutput.NOT_ARCHIVED,
      local: {
        tryBundle: (directory) => {
          write(directory);
          return true;
        },
      },
    },
  });
}
