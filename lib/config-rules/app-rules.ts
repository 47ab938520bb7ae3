/** Rules of what is no endpoint: images, environments, tags, networks, batch, names. */
import { DEFAULT_SETTINGS, MAX_MB_IN_FLIGHT } from '@sagemaker-tfs/batch/settings';
import { Arn, ArnFormat } from 'aws-cdk-lib/core';
import type { ServingConfig } from '../config.ts';
import type { Problem } from '../problem.ts';
import {
  certificateProblem,
  environmentProblem,
  imageProblem,
  inFlightProblem,
  MODEL_ENVIRONMENT,
  scheduleProblem,
  tagsProblem,
} from '../rules/limits.ts';
import { modelPackageProblem } from '../rules/model-package.ts';
import { archiveProblem } from '../rules/serverless.ts';
import { PARTITION_RULE, PARTITIONS_RULE } from './partitions.ts';
import { API, at, each, GUIDE, type Rule } from './rule.ts';

/** Every VPC with its path, and its region where one is known: the VPC for all has one region (`configSchema`). */
function vpcs({ vpc, environments = [] }: ServingConfig) {
  const shared = environments.find((one) => !one.vpc)?.region;
  const own = environments.map(
    (one, i) => [`environments[${i}].vpc`, one.vpc, one.region] as const,
  );
  return [['vpc', vpc, shared] as const, ...own].flatMap(([path, value, region]) =>
    value ? [{ path, value, region }] : [],
  );
}

/** Why a name is no zone of a region; of any region where none is known. */
function zoneProblem(zone: string, region = '[a-z]{2}(?:-[a-z]+)+-\\d'): string | undefined {
  // us-east-1a, and us-east-1-bos-1a of a Local Zone.
  if (new RegExp(`^${region}(?:-[a-z0-9]+)*[a-z]$`).test(zone)) return undefined;
  if (/^[a-z0-9]+-az\d+$/.test(zone)) return `'${zone}' is the id of a zone, and not its name`;
  return region.startsWith('[') ? `'${zone}' is no zone` : `'${zone}' is no zone of ${region}`;
}

/** Every name of an API's own, with its path. */
function domainsOf(models: ServingConfig['models']) {
  return Object.entries(models).flatMap(([name, { endpoint }]) => {
    const domain = endpoint?.api?.domain;
    return domain ? [{ path: `models.${name}.endpoint.api.domain`, domain }] : [];
  });
}

/** A field of every model, variant, shadow and component that has it, with its path. */
function fieldsOf<K extends 'modelPackage' | 'archiveKeyArn'>(
  models: ServingConfig['models'],
  field: K,
) {
  return Object.entries(models).flatMap(([name, model]) => {
    const { variants = [], shadow, components = [] } = model.endpoint ?? {};
    const all = [
      ['', model[field]] as const,
      ...variants.map((one, i) => [`endpoint.variants[${i}].`, one[field]] as const),
      ...components.map((one, i) => [`endpoint.components[${i}].`, one[field]] as const),
      ['endpoint.shadow.', shadow?.[field]] as const,
    ];
    return all.flatMap(([below, value]) =>
      value === undefined ? [] : [{ path: `models.${name}.${below}${field}`, value }],
    );
  });
}

/** Why objects that a version's model reads cannot be under this key: S3 takes keys of a bucket's own region. */
function keyProblem(keyArn: string | undefined, versionArn: string): Problem {
  const [key, version] = [keyArn ?? versionArn, versionArn].map((arn) => arn.split(':')[3]);
  if (key === version) return undefined;
  return {
    problem: `the key is in ${key} and the version in ${version}`,
    fix: `Give the ARN of the key in ${version} that the archive is under`,
  };
}

const MAX_STACK_NAME = 128;

export const APP_RULES: readonly Rule[] = [
  {
    id: 'image-of-the-region',
    says: "A model's image is in a private ECR repository of the model's own region.",
    source: `${API}/API_ContainerDefinition.html`,
    check: ({ image, environments = [] }) => {
      const own = environments.flatMap((one, i) =>
        one.image && 'uri' in one.image
          ? at(`environments[${i}].image.uri`, imageProblem(one.image.uri, one.region))
          : [],
      );
      if (!('uri' in image)) return own;
      const regions = environments.filter((one) => !one.image).map(({ region }) => region);
      const problems = (environments.length > 0 ? regions : [undefined]).map((region) =>
        imageProblem(image.uri, region),
      );
      const problem = problems.find((found) => found !== undefined);
      return [...at('image.uri', problem), ...own];
    },
  },
  {
    id: 'model-package-of-the-region',
    says: "A version of the Model Registry, its image and the key of its archive are in the model's region.",
    source: `${API}/API_ContainerDefinition.html`,
    check: ({ models, environments = [] }) =>
      fieldsOf(models, 'modelPackage').flatMap(({ path, value: { arn, image, keyArn } }) => {
        const regions =
          environments.length > 0 ? environments.map((one) => one.region) : [undefined];
        const first = (problems: readonly Problem[]) => problems.find((one) => one !== undefined);
        return [
          ...at(`${path}.arn`, first(regions.map((region) => modelPackageProblem(arn, region)))),
          ...at(`${path}.image`, first(regions.map((region) => imageProblem(image, region)))),
          ...at(`${path}.keyArn`, keyProblem(keyArn, arn)),
        ];
      }),
  },
  {
    id: 'environment-of-a-model',
    says: 'A model has at most 100 environment variables, of 1,024 bytes each for name and value, and 32 KB in all.',
    source: `${API}/API_ContainerDefinition.html`,
    check: ({ models }) =>
      Object.entries(models).flatMap(([name, { environment }]) => {
        const texts = Object.entries(environment).map(([key, value]) => [key, String(value)]);
        const variables = Object.fromEntries(texts) as Record<string, string>;
        return at(`models.${name}.environment`, environmentProblem(variables, MODEL_ENVIRONMENT));
      }),
  },
  {
    id: 'serverless-outside-china',
    says: 'Serverless Inference is not available in the China regions.',
    source: `${GUIDE}/serverless-endpoints.html`,
    check: ({ models, environments = [] }) => {
      const region = environments.map((one) => one.region).find((one) => one.startsWith('cn-'));
      if (!region) return [];
      return Object.entries(models).flatMap(([name, { endpoint }]) =>
        at(
          `models.${name}.endpoint.serverless`,
          endpoint?.serverless && {
            problem: `there is no Serverless Inference in ${region}`,
            fix: 'Use instances',
          },
        ),
      );
    },
  },
  {
    id: 'serverless-outside-vpcs',
    says: 'Serverless endpoints join no VPC.',
    source: `${GUIDE}/serverless-endpoints.html`,
    check: (config) => {
      const [first] = vpcs(config);
      if (!first) return [];
      return Object.entries(config.models).flatMap(([name, { endpoint }]) =>
        at(
          `models.${name}.endpoint.serverless`,
          endpoint?.serverless && {
            problem: `a serverless endpoint cannot join the VPC of '${first.path}'`,
            fix: 'Use instances, or deploy it from a configuration without a VPC',
          },
        ),
      );
    },
  },
  {
    id: 'serverless-takes-archives',
    says: 'Serverless endpoints and batch transform take archives, not unpacked models.',
    source: `${API}/API_S3ModelDataSource.html`,
    check: ({ models }) =>
      Object.entries(models).flatMap(([name, { compression, endpoint, batch }]) => {
        if (!endpoint?.serverless && !batch) return [];
        const what = batch ? 'batch transform' : 'a serverless endpoint';
        return at(`models.${name}.compression`, archiveProblem(what, compression));
      }),
  },
  {
    id: 'certificate-of-the-region',
    says: "The certificate of a regional API's name is in the API's region.",
    source:
      'https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-regional-api-custom-domain-create.html',
    check: ({ models, environments = [] }) =>
      Object.entries(models).flatMap(([name, { endpoint }]) => {
        const arn = endpoint?.api?.domain?.certificateArn;
        const own = arn && Arn.split(arn, ArnFormat.SLASH_RESOURCE_NAME).region;
        const other = environments.find(({ region }) => arn && region !== own);
        if (!other) return [];
        const path = `models.${name}.endpoint.api.domain.certificateArn`;
        return at(path, certificateProblem(own, other.region));
      }),
  },
  {
    id: 'certificate-of-the-account',
    says: "The certificate of an API's name is in the API's account.",
    source:
      'https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-regional-api-custom-domain-create.html',
    check: ({ models, environments = [] }) =>
      domainsOf(models).flatMap(({ path, domain }) => {
        const { account: own } = Arn.split(domain.certificateArn, ArnFormat.SLASH_RESOURCE_NAME);
        const other = environments.find(({ account }) => account !== own);
        if (!other) return [];
        const problem = `a certificate of ${own}, and the API is in ${other.account}`;
        const fix = `Deploy ${other.name} from a configuration with a name and certificate of its own`;
        return at(`${path}.certificateArn`, { problem, fix });
      }),
  },
  {
    id: 'one-api-of-a-name',
    says: 'A custom domain name can be used once per region.',
    source:
      'https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-custom-domains.html',
    check: ({ models, environments = [] }) => {
      const regions = environments.map(({ region }) => region);
      const twice = regions.find((region, i) => regions.indexOf(region) !== i);
      return domainsOf(models).flatMap(({ path, domain: { name } }, i, all) => {
        const first = all.findIndex((one) => one.domain.name === name);
        const fix = 'Give each API a name of its own, or leave domain out';
        const problem =
          first < i
            ? `'${name}' is the name of ${all[first]?.path} too`
            : twice && `'${name}' would be made twice in ${twice}, once for each environment`;
        return at(`${path}.name`, problem ? { problem, fix } : undefined);
      });
    },
  },
  {
    id: 'name-in-the-zone',
    says: 'A zone of Route 53 takes records of its own name and below it.',
    source:
      'https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resource-record-sets-values-shared.html',
    check: ({ models }) =>
      domainsOf(models).flatMap(({ path, domain: { name, hostedZone } }) => {
        const zone = hostedZone?.name.toLowerCase().replace(/\.$/, '');
        if (zone === undefined || name === zone || name.endsWith(`.${zone}`)) return [];
        const problem = `'${name}' is not below '${zone}'`;
        return at(`${path}.hostedZone.name`, { problem, fix: 'Give the zone that the name is in' });
      }),
  },
  {
    id: 'network-of-a-model',
    says: 'A model is in at most 16 subnets, with at most 5 security groups.',
    source: `${API}/API_VpcConfig.html`,
    check: (config) =>
      vpcs(config).flatMap(({ path, value }) => [
        ...at(
          `${path}.subnetIds`,
          value.subnetIds.length > 16
            ? { problem: `${value.subnetIds.length} subnets`, fix: 'Give 1 to 16' }
            : undefined,
        ),
        ...at(
          `${path}.securityGroupIds`,
          value.securityGroupIds.length > 5
            ? { problem: `${value.securityGroupIds.length} groups`, fix: 'Give 1 to 5' }
            : undefined,
        ),
      ]),
  },
  {
    id: 'zones-of-the-region',
    says: "A zone's name begins with the name of its region.",
    source:
      'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-regions-availability-zones.html',
    check: (config) =>
      vpcs(config).flatMap(({ path, value, region }) =>
        value.availabilityZones.flatMap((zone, i) => {
          const problem = zoneProblem(zone, region);
          const fix = `Give names such as ${region ?? 'us-east-1'}a`;
          return at(`${path}.availabilityZones[${i}]`, problem ? { problem, fix } : undefined);
        }),
      ),
  },
  {
    id: 'subnets-of-zones',
    says: 'The subnets of an imported VPC are listed in the order of its zones, the same number for each zone.',
    source: 'https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_ec2.VpcAttributes.html',
    check: (config) =>
      vpcs(config).flatMap(({ path, value: { subnetIds, availabilityZones: zones } }) =>
        at(
          `${path}.subnetIds`,
          subnetIds.length % zones.length === 0
            ? undefined
            : {
                problem: `${subnetIds.length} subnets for ${zones.length} zones`,
                fix: 'Give one for each zone',
              },
        ),
      ),
  },
  {
    id: 'tags',
    says: "A tag's name has at most 128 characters and does not begin with 'aws:'; its value has at most 256. A resource has at most 50 tags.",
    source:
      'https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html',
    check: ({ tags }) => at('tags', tagsProblem(tags)),
  },
  {
    id: 'schedule',
    says: 'The unit of a rate of 1 is singular (rate(1 day)), of other rates plural. A cron expression has six fields, each in its range; the day of the month or the day of the week is a question mark.',
    source:
      'https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html',
    check: (config) =>
      (['batch', 'batchWorker'] as const).flatMap((part) =>
        each(part, ({ schedule }) =>
          schedule === undefined ? undefined : ['schedule', scheduleProblem(schedule)],
        )(config),
      ),
  },
  {
    id: 'payload-in-flight',
    says: `The number of concurrent requests to an instance times the largest payload is at most ${MAX_MB_IN_FLIGHT} MB.`,
    source: `${API}/API_CreateTransformJob.html`,
    check: each('batch', ({ maxConcurrentTransforms, maxPayloadInMB }) => {
      const at = maxConcurrentTransforms ?? DEFAULT_SETTINGS.maxConcurrentTransforms;
      const each = maxPayloadInMB ?? DEFAULT_SETTINGS.maxPayloadInMB;
      return ['maxPayloadInMB', inFlightProblem(at, each)];
    }),
  },
  {
    id: 'key-of-the-region',
    says: 'Volumes, buckets, logs and topics need a KMS key of their own region.',
    source: 'https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html',
    check: ({ environments = [], ...all }) =>
      environments.flatMap(({ name, region, ...own }, i) => {
        const key = own.encryptionKeyArn ?? all.encryptionKeyArn;
        const former = own.formerEncryptionKeyArns ?? all.formerEncryptionKeyArns ?? [];
        const keys: [field: string, arn: string][] = [
          ...(key === undefined ? [] : [['encryptionKeyArn', key] as [string, string]]),
          ...former.map((arn, j): [string, string] => [`formerEncryptionKeyArns[${j}]`, arn]),
        ];
        return keys.flatMap(([field, arn]) => {
          const { region: keyRegion } = Arn.split(arn, ArnFormat.SLASH_RESOURCE_NAME);
          if (keyRegion === region) return [];
          return at(`environments[${i}].${field}`, {
            problem: `the key is in ${keyRegion}, and '${name}' is in ${region}`,
            fix: `Give '${name}' the ARN of a key in ${region}`,
          });
        });
      }),
  },
  {
    id: 'archive-key-of-the-region',
    says: "A model's archive is in a bucket of the model's region, so its key is of that region.",
    source: `${API}/API_ContainerDefinition.html`,
    check: ({ models, environments = [] }) =>
      fieldsOf(models, 'archiveKeyArn').flatMap(({ path, value }) => {
        const found = value.split(':')[3];
        const other = environments.find(({ region }) => region !== found);
        if (!other) return [];
        return at(path, {
          problem: `the key is in ${found}, and '${other.name}' is in ${other.region}`,
          fix: `Give the ARN of the key in ${other.region} that the archive is under`,
        });
      }),
  },
  PARTITIONS_RULE,
  PARTITION_RULE,
  {
    id: 'stack-names',
    says: 'The name of a stack has at most 128 characters.',
    source:
      'https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-using-console-create-stack-parameters.html',
    check: ({ name, models, environments = [] }) => {
      const longest = (texts: readonly string[]) =>
        Math.max(0, ...texts.map((text) => text.length));
      const stage = longest(environments.map((one) => `${one.name}-`));
      const ends = Object.entries(models).map(
        ([model, { batchWorker }]) => `${model}${batchWorker ? '-batch-worker' : '-batch'}`,
      );
      const length = stage + `${name}-`.length + longest(ends);
      if (length <= MAX_STACK_NAME) return [];
      return at('name', {
        problem: `names of stacks would have up to ${length} characters`,
        fix: `Shorten the names until they have ${MAX_STACK_NAME}`,
      });
    },
  },
];
