/** What the stacks of one model have in common. */
import type { StackProps } from 'aws-cdk-lib/core';
import type { ModelConfig, ServingConfig } from '../config.ts';
import type { IServingImage } from '../serving-image.ts';

/** Props of a stack of one model. */
export interface ModelStackProps extends StackProps {
  /** Image that serves the model. */
  readonly image: IServingImage;
  /** The model, as a configuration has it in `models`. */
  readonly model: ModelConfig;
  /**
   * VPC of the model, and of what calls it.
   * @default - none
   */
  readonly vpcConfig?: ServingConfig['vpc'];
  /**
   * ARN of the one key for all that the stack keeps.
   * @default - AWS's own keys
   */
  readonly encryptionKeyArn?: string;
  /**
   * ARNs of keys that data from before is under.
   * @default - none
   */
  readonly formerEncryptionKeyArns?: readonly string[];
  /**
   * Start of the keys of the model's archives in the CDK's asset bucket. Stacks of one model share uploads by it.
   * @default - from the model's path in the app
   */
  readonly archiveName?: string;
}
