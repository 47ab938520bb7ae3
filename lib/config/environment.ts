/** Accounts, regions and networks. */
import * as z from 'zod';
import { keyArn, name } from './fields.ts';
import { image } from './image.ts';

/** An existing VPC. */
export const vpc = z.strictObject({
  vpcId: z.string().startsWith('vpc-').describe('An existing VPC.'),
  availabilityZones: z.array(z.string()).min(1).describe('Zones of the subnets.'),
  subnetIds: z.array(z.string().startsWith('subnet-')).min(1).describe('One for each zone.'),
  securityGroupIds: z
    .array(z.string().startsWith('sg-'))
    .min(1)
    .describe('Of the instances and of the smoke test.'),
});

/** An account and a region; it gets all stacks. */
export const environment = z.strictObject({
  name: name.describe("Start of the stacks' names, such as `prod`: `npx cdk deploy 'prod/*'`."),
  account: z
    .string()
    .regex(/^\d{12}$/, 'an account has 12 digits')
    .describe('Account.'),
  region: z
    .string()
    .regex(/^[a-z]{2,4}(-[a-z]+)+-\d$/, 'a region such as us-east-1')
    .describe('Region.'),
  image: image
    .optional()
    .describe('Its own image, in place of the one for all: SageMaker pulls from its own region.'),
  vpc: vpc.optional().describe('Its own VPC, in place of the one for all.'),
  encryptionKeyArn: keyArn.optional().describe('Its own key, in place of the one for all.'),
  formerEncryptionKeyArns: z
    .array(keyArn)
    .optional()
    .describe('Its own former keys, in place of those for all.'),
});
