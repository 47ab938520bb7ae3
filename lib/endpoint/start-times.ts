/** How long a container may take to start, of variants and of inference components. */
import type { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { START_SECONDS } from '../rules/bounds.ts';
import { checkRange } from '../validation.ts';

/** Times that a start may take. */
export interface StartTimes {
  /**
   * Time to download and unpack the model, 1-60 minutes.
   * @default - SageMaker's own
   */
  readonly modelDataDownloadTimeout?: Duration;
  /**
   * Time until `/ping` answers, 1-60 minutes; a model loads before it does.
   * @default - SageMaker's own
   */
  readonly containerStartupHealthCheckTimeout?: Duration;
}

/** SageMaker's form of the times that a container has to start. */
export function startTimes(scope: Construct, prop: string, props: StartTimes) {
  const download = props.modelDataDownloadTimeout?.toSeconds();
  const startup = props.containerStartupHealthCheckTimeout?.toSeconds();
  checkRange(scope, `${prop}.modelDataDownloadTimeout`, download, ...START_SECONDS, 'seconds');
  checkRange(
    scope,
    `${prop}.containerStartupHealthCheckTimeout`,
    startup,
    ...START_SECONDS,
    'seconds',
  );
  return {
    ...(download !== undefined && { modelDataDownloadTimeoutInSeconds: download }),
    ...(startup !== undefined && { containerStartupHealthCheckTimeoutInSeconds: startup }),
  };
}
