import { parseConfig } from './parse-config.ts';

const model = { model: 'm', endpoint: {} };
const parse = (config: unknown) => parseConfig(config, 'serving.config.ts');
const endpoint = (fields: object) => ({ models: { m: { ...model, endpoint: fields } } });

describe('parseConfig', () => {
  test('a model and an endpoint are enough', () => {
    expect(parse({ models: { digits: model } })).toMatchObject({
      name: 'tensorflow',
      tags: {},
      models: { digits: { endpoint: { async: false, smokeTest: { samples: [] } } } },
    });
  });

  test.each<[unknown, RegExp]>([
    [{}, /^serving\.config\.ts is wrong:\n {2}models: /],
    [{ models: {} }, /models: name at least one model/],
    [{ models: { m: { model: 'm' } } }, /models\.m: deploys nothing\. Add 'endpoint'/],
    [
      { models: { m: { ...model, modle: 'x' } } },
      /models\.m: unknown field 'modle'; did you mean 'model'\?$/,
    ],
    [
      { models: { m: { ...model, instanceType: 'ml.c5.large' } } },
      /models\.m: unknown field 'instanceType'; did you mean 'endpoint\.instanceType'\?$/,
    ],
    [
      endpoint({ smoketest: {}, gpu: true }),
      /m\.endpoint: .*'smoketest'; did you mean 'smokeTest'\? .*'gpu'; the fields are instanceType, /,
    ],
    [
      endpoint({ scaling: { maxInstances: 2, target: { concurentRequests: 3 } } }),
      /endpoint\.scaling\.target.*: /,
    ],
    [{ models: { 'a b': model } }, /models\.a b: .*/],
    [endpoint({ instanceCount: 0 }), /models\.m\.endpoint\.instanceCount: .*more than 0/],
    ...[
      { type: 'canary', percent: 51 },
      { type: 'linear', percent: 9 },
      { type: 'rolling', percent: 4 },
    ].map((traffic): [unknown, RegExp] => [
      endpoint({ instanceCount: 4, deployment: { traffic: { ...traffic, waitSeconds: 1 } } }),
      /endpoint\.deployment\.traffic\.percent: /,
    ]),
    [endpoint({ metrics: { frequencySeconds: 20 } }), /endpoint\.metrics\.frequencySeconds: /],
    [
      endpoint({ alarmEmail: 'me' }),
      /models\.m\.endpoint\.alarmEmail: 'me' is not an email address/,
    ],
    [
      endpoint({ scaling: { maxInstances: 2, target: { concurrentRequests: -1 } } }),
      /models\.m\.endpoint\.scaling\.target\.concurrentRequests: .*more than 0/,
    ],
    [
      endpoint({
        smokeTest: {
          samples: [{ name: 'a', file: 'f', contentType: 'json', expect: [{ topClass: 'cat' }] }],
        },
      }),
      /smokeTest\.samples\[0\]\.contentType: give a media type.*\n.*samples\[0\]\.expect\[0\]\.topClass: .*number/,
    ],
    [
      { models: { m: model }, environments: [{ name: 'p', account: '1', region: 'us-east-1' }] },
      /environments\[0\]\.account: an account has 12 digits/,
    ],
    [{ models: { m: model }, image: { uri: '' } }, /image\.uri: /],
    [
      { models: { image: model } },
      /models\.image: its stack would be tensorflow-image, as that of the image is/,
    ],
    [
      { models: { x: { model: 'm', batch: {} }, 'x-batch': model } },
      /models\.x-batch: its stack would be tensorflow-x-batch, as that of models\.x is/,
    ],
  ])('%j names the field', (config, message) => {
    expect(() => parse(config)).toThrow(message);
  });
});

test('one VPC for environments in several regions is refused', () => {
  const vpc = {
    vpcId: 'vpc-1',
    availabilityZones: ['eu-west-1a'],
    subnetIds: ['subnet-1'],
    securityGroupIds: ['sg-1'],
  };
  const account = '111111111111';
  const environments = [
    { name: 'a', account, region: 'eu-west-1' },
    { name: 'b', account, region: 'us-east-1' },
  ];
  const models = { m: model };
  expect(() => parse({ models, environments, vpc })).toThrow(
    /vpc: a VPC lies in one region, and this one is for eu-west-1 and us-east-1\. Give the environments a 'vpc' each/,
  );
  expect(() =>
    parse({
      models,
      environments: environments.map((one) => ({
        ...one,
        vpc: { ...vpc, availabilityZones: [`${one.region}a`] },
      })),
    }),
  ).not.toThrow();
});

test('two environments of one name are refused', () => {
  const of = (name: string) => ({ name, account: '111111111111', region: 'eu-west-1' });
  const environments = (...names: string[]) => ({
    models: { m: model },
    environments: names.map(of),
  });
  expect(() => parse(environments('prod', 'test', 'prod'))).toThrow(
    "environments[2].name: environments[0] is named 'prod' too. Give each environment a name of its own",
  );
  expect(() => parse(environments('prod', 'test'))).not.toThrow();
});

test.each([
  [{ asyncRetentionDays: 7 }, 'asyncRetentionDays: only an asynchronous endpoint'],
  [{ dataCaptureRetentionDays: 7 }, 'dataCaptureRetentionDays: nothing is captured'],
  [{ async: true, asyncRetentionDays: 0 }, 'asyncRetentionDays: '],
  [{ async: true, asyncRetentionDays: 1.5 }, 'asyncRetentionDays: '],
])('%j keeps nothing', (fields, message) => {
  expect(() => parse(endpoint(fields))).toThrow(`models.m.endpoint.${message}`);
});
