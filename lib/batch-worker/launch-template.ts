/** What instances of AWS Batch start with beyond the settings of their environment. */
import { CfnComputeEnvironment, type ManagedEc2EcsComputeEnvironment } from 'aws-cdk-lib/aws-batch';
import {
  BlockDeviceVolume,
  EbsDeviceVolumeType,
  type ILaunchTemplate,
  LaunchTemplate,
} from 'aws-cdk-lib/aws-ec2';
import { Size } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { WORKER_DISK_GIB } from '../rules/bounds.ts';
import { warnOfExportedVersion } from '../stack-references.ts';
import { checkInteger, invalidProp } from '../validation.ts';
import type { BatchWorkerProps } from './props.ts';

/** Room for the image, and for archive and model of every worker on an instance. */
export const WORKER_DISK = Size.gibibytes(100);

/** The only volume of ECS's images of Amazon Linux 2023. */
const ROOT = '/dev/xvda';

/** Refuses a disk that the host image does not fit on, and a launch template that says another or has no id. */
export function checkLaunch(
  scope: Construct,
  { diskSize, launchTemplate }: BatchWorkerProps,
): void {
  if (launchTemplate && diskSize) {
    const fix = 'Leave it out, and give the size in the launch template';
    invalidProp(scope, 'diskSize', 'the launch template says how large the volumes are', fix);
  }
  if (launchTemplate && launchTemplate.launchTemplateId === undefined) {
    const problem = 'it is known by its name alone, and AWS Batch is given the id';
    invalidProp(scope, 'launchTemplate', problem, 'Import it by its launchTemplateId');
  }
  if (diskSize && !diskSize.isUnresolved()) {
    checkInteger(scope, 'diskSize', diskSize.toGibibytes(), ...WORKER_DISK_GIB, 'GiB');
  }
}

/**
 * The props' own template, or one that asks for what organizations demand of every instance: session tokens of the metadata
 * service (IMDSv2) and encrypted volumes. The host images ask for the tokens themselves, but a policy may read the request.
 * @see https://docs.aws.amazon.com/batch/latest/userguide/imds-compute-environments.html
 * @see https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html
 */
export function launchTemplateOf(scope: Construct, props: BatchWorkerProps): ILaunchTemplate {
  if (props.launchTemplate) return props.launchTemplate;
  const { diskSize = WORKER_DISK } = props;
  // The construct of the CDK tags what is created at launch, which the tags of a template alone do not.
  return new LaunchTemplate(scope, 'LaunchTemplate', {
    requireImdsv2: true,
    blockDevices: [
      {
        deviceName: ROOT,
        volume: BlockDeviceVolume.ebs(diskSize.toGibibytes(), {
          volumeType: EbsDeviceVolumeType.GP3,
          encrypted: true,
          deleteOnTermination: true,
        }),
      },
    ],
  });
}

/**
 * Names the version, which the CDK leaves out: then it is the default one, which an update of the template does not change.
 * @see https://docs.aws.amazon.com/batch/latest/APIReference/API_LaunchTemplateSpecification.html
 */
export function nameVersion(
  instances: ManagedEc2EcsComputeEnvironment,
  launchTemplate: ILaunchTemplate,
): void {
  const { node } = instances;
  const { versionNumber } = launchTemplate;
  if (node.defaultChild instanceof CfnComputeEnvironment) {
    node.defaultChild.addPropertyOverride('ComputeResources.LaunchTemplate.Version', versionNumber);
  }
  warnOfExportedVersion(instances, launchTemplate, versionNumber);
}
