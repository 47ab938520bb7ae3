/** API Gateway in front of an endpoint: requests through the template's own mapping to the real runtime. */
import { encodeNpy, numericTensor } from '@sagemaker-tfs/tensors';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AccountPrincipal, ArnPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { type App, Duration, NestedStack, Size, Stack } from 'aws-cdk-lib/core';
import {
  addServingStacks,
  EndpointApi,
  type EndpointApiProps,
  parseConfig,
  RealtimeEndpoint,
  type RealtimeEndpointProps,
} from '../../lib/index.ts';
import { type StandIn, startAwsStandIn } from '../rehearse/aws-stand-in.ts';
import { useServedFixtures } from '../support/fixture-runtime.ts';
import { existingImage, MODEL_DIR, testApp, testModel, testStack } from '../support/stacks.ts';
import { callApi } from './api-gateway.ts';

function apiOf(
  props: Partial<EndpointApiProps> = {},
  endpointProps: Partial<RealtimeEndpointProps> = {},
  stack: Stack = testStack(),
) {
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    endpointName: 'digits',
    variants: [{ model: testModel(stack) }],
    ...endpointProps,
  });
  const api = new EndpointApi(stack, 'Api', { endpoint, auth: 'apiKey', ...props });
  return { stack, api, endpoint };
}

/** A resource of a template. */
interface Resource {
  readonly Type: string;
  readonly DependsOn?: string | readonly string[];
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** All that must be there before `id`. */
function closure(all: Readonly<Record<string, Resource>>, id: string, found = new Set<string>()) {
  const text = JSON.stringify([all[id]?.Properties, all[id]?.DependsOn]);
  for (const other of Object.keys(all)) {
    if (other === id || found.has(other) || !text.includes(`"${other}"`)) continue;
    found.add(other);
    closure(all, other, found);
  }
  return found;
}

test("API Gateway's role may invoke the endpoint, and nothing else", () => {
  const { stack } = apiOf();
  const imported = RealtimeEndpoint.fromEndpointName(stack, 'Imported', 'digits');
  new EndpointApi(stack, 'Other', { endpoint: imported, auth: 'iam' });
  const policies = Object.entries(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  const calls = policies.filter(([id]) => /^(Api|Other)Call/.test(id));
  expect(calls).toHaveLength(2);
  for (const [, { Properties }] of calls) {
    const [statement, ...others] = Properties.PolicyDocument.Statement;
    expect(others).toEqual([]);
    expect(statement.Action).toBe('sagemaker:InvokeEndpoint');
  }
});

const METHOD = 'AWS::ApiGateway::Method';
const JWT = { issuer: 'https://login.example.com/', audience: ['digits'] };

describe('requests', () => {
  const served = useServedFixtures(['half_plus_two']);
  let sagemaker: StandIn;
  let failure: { readonly status: number; readonly body: string } | undefined;
  const template = Template.fromStack(apiOf({ corsOrigin: 'https://app.example.com' }).stack);

  beforeAll(async () => {
    sagemaker = await startAwsStandIn({
      async invoke({ endpoint, contentType, accept, customAttributes, body }) {
        expect(endpoint).toBe('digits');
        if (failure) {
          return {
            ...failure,
            contentType: 'text/plain',
            customAttributes: '',
            body: Buffer.from(failure.body),
          };
        }
        const response = await fetch(`${served.url}/invocations`, {
          method: 'POST',
          headers: {
            ...(contentType && { 'content-type': contentType }),
            ...(accept && { accept }),
            'x-amzn-sagemaker-custom-attributes': customAttributes,
          },
          body: new Uint8Array(body),
        });
        return {
          status: response.status,
          contentType: response.headers.get('content-type') ?? '',
          customAttributes: response.headers.get('x-amzn-sagemaker-custom-attributes') ?? '',
          body: new Uint8Array(await response.arrayBuffer()),
        };
      },
    });
  });

  afterEach(() => {
    failure = undefined;
  });

  afterAll(async () => {
    await sagemaker.close();
  });

  const JSON_BODY = Buffer.from('{"instances":[1,2]}');
  const call = (headers: Record<string, string>, body: Buffer = JSON_BODY) =>
    callApi(template, sagemaker.url, { headers, body });
  const MODEL = { 'x-amzn-sagemaker-custom-attributes': 'tfs-model-name=half_plus_two' };

  /** The container's own answer. */
  async function direct(headers: Record<string, string>, body: Buffer): Promise<Buffer> {
    const url = `${served.url}/invocations`;
    const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  }

  test.each([[{}], [{ accept: 'application/json' }], [{ accept: '*/*' }]])(
    'JSON there and back, with %j',
    async (accept) => {
      const request = { 'content-type': 'application/json', ...MODEL, ...accept };
      const { status, headers, body } = await call(request);
      expect([status, body]).toEqual([200, await direct(request, JSON_BODY)]);
      expect(headers.get('content-type')).toBe('application/json');
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
      expect(headers.get('x-amzn-sagemaker-custom-attributes')).toContain('tfs-model');
    },
  );

  test('arrays of NumPy there and back, byte for byte', async () => {
    const npy = Buffer.concat(
      encodeNpy(numericTensor('float32', [2, 1], Float32Array.of(-3.25, 1e30))),
    );
    // What a text would lose.
    expect(Buffer.from(npy.toString('utf8'))).not.toEqual(npy);
    const request = {
      'content-type': 'application/x-npy',
      accept: 'application/x-npy',
      ...MODEL,
    };
    const { status, headers, body } = await call(request, npy);
    expect([status, body]).toEqual([200, await direct(request, npy)]);
    expect(headers.get('content-type')).toBe('application/x-npy');
  });

  test("the container's own status, message and code", async () => {
    const { status, headers, body } = await call({
      'content-type': 'application/json',
      'x-amzn-sagemaker-custom-attributes': `tfs-model-name=it's-none`,
    });
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json']);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    const { error, code } = JSON.parse(body.toString()) as Record<string, string>;
    expect(error).toContain(`it's-none`);
    expect(code).toMatch(/^[A-Z_]+$/);
  });

  test('a failure that is no JSON becomes the message of an error', async () => {
    failure = { status: 507, body: `can't "load"\n` };
    const { status, body } = await call({ 'content-type': 'application/json' });
    expect(status).toBe(507);
    expect(JSON.parse(body.toString())).toEqual({ error: `can't "load"\n`, code: 'MODEL_ERROR' });
  });

  test('before a call from a page, browsers may ask without a key', async () => {
    const { status, headers } = await callApi(template, sagemaker.url, { verb: 'OPTIONS' });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(headers.get('access-control-allow-headers')).toContain('X-Api-Key');
    template.hasResourceProperties(METHOD, {
      HttpMethod: 'OPTIONS',
      ApiKeyRequired: Match.absent(),
    });
  });
});

const DENIED =
  'User: arn:aws:sts::123456789012:assumed-role/api is not authorized to perform: sagemaker:InvokeEndpoint';

describe("SageMaker's own errors", () => {
  const template = Template.fromStack(apiOf().stack);

  test.each([
    [400, '{"message":"Endpoint digits of account 123456789012 not found."}', 503, 'ENDPOINT_OFF'],
    [400, '{"Message":"1 validation error detected"}', 400, 'REQUEST_REFUSED'],
    [413, '{"message":"too large"}', 400, 'REQUEST_REFUSED'],
    [413, '', 400, 'REQUEST_REFUSED'],
    [400, '<html>bad</html>', 400, 'REQUEST_REFUSED'],
    // A throttle, as it was seen: https://github.com/opensearch-project/ml-commons/issues/2429
    [400, '{"message":null}', 429, 'OVERLOADED'],
    [400, '{"message":"Rate exceeded"}', 429, 'OVERLOADED'],
    [400, '{"Message":"ThrottlingException: slow down"}', 429, 'OVERLOADED'],
    // The API's own role is refused: the caller is not to blame.
    [400, `{"Message":"${DENIED}"}`, 500, 'API_NOT_ALLOWED'],
    [403, `{"message":"${DENIED}"}`, 500, 'API_NOT_ALLOWED'],
    [403, '{"message":"The security token is expired"}', 500, 'API_NOT_ALLOWED'],
    [429, '{"Message":"not ready"}', 429, 'OVERLOADED'],
    [500, '<html>', 502, 'SERVICE_FAILED'],
    [530, '{}', 502, 'SERVICE_FAILED'],
  ])('%d %s', async (status, text, expected, code) => {
    const { createServer } = await import('node:http');
    const server = createServer((_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(text),
    );
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as { port: number };
    try {
      const answer = await callApi(template, `http://127.0.0.1:${port}`, {
        headers: { 'content-type': 'application/json' },
      });
      expect(answer.status).toBe(expected);
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code });
      expect(answer.body.toString()).not.toContain('123456789012');
    } finally {
      server.close();
    }
  });
});

test('a key, a plan with the limits, and the role that calls this endpoint alone', () => {
  const { stack, api } = apiOf({ throttle: { requestsPerSecond: 20, burst: 40 } });
  const template = Template.fromStack(stack);
  expect(api.apiKey).toBeDefined();
  template.hasResourceProperties(METHOD, { HttpMethod: 'POST', ApiKeyRequired: true });
  template.hasResourceProperties('AWS::ApiGateway::UsagePlan', {
    Throttle: { RateLimit: 20, BurstLimit: 40 },
  });
  template.hasResourceProperties('AWS::ApiGateway::Stage', {
    MethodSettings: [Match.objectLike({ ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 })],
  });
  template.resourceCountIs('AWS::ApiGateway::UsagePlanKey', 1);
  const [policy] = Object.values(
    template.findResources('AWS::IAM::Policy', {
      Properties: { PolicyName: Match.stringLikeRegexp('^ApiCall') },
    }),
  );
  const [statement, ...others] = policy?.Properties.PolicyDocument.Statement ?? [];
  expect(others).toEqual([]);
  expect(JSON.stringify(statement.Resource)).toMatch(/endpoint\/digits"\]\]/);
});

test('signatures: nobody without AWS keys, and whom the construct lets', () => {
  const { stack, api } = apiOf({ auth: 'iam' });
  const role = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
  api.grantInvoke(role);
  const template = Template.fromStack(stack);
  template.hasResourceProperties(METHOD, { AuthorizationType: 'AWS_IAM' });
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: { Statement: [Match.objectLike({ Action: 'execute-api:Invoke' })] },
    PolicyName: Match.stringLikeRegexp('Caller'),
  });
  expect(() => apiOf().api.grantInvoke(role)).toThrow(`Give auth: 'iam'`);
});

test('signatures of other accounts: the policy of the API lets them in too', () => {
  // Both sides must allow them.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-authorization-flow.html
  const stack = new Stack(testApp(), 'Mine', {
    env: { account: '123456789012', region: 'us-east-1' },
  });
  const { api } = apiOf({ auth: 'iam' }, {}, stack);
  const their = 'arn:aws:iam::999999999999';
  const grantees = [
    Role.fromRoleArn(stack, 'Theirs', `${their}:role/partner`),
    new AccountPrincipal('888888888888'),
    new ArnPrincipal(`${their}:role/other`),
  ];
  for (const grantee of grantees) expect(api.grantInvoke(grantee).success).toBe(true);
  const own = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
  api.grantInvoke(own);
  const [rest] = Object.values(Template.fromStack(stack).findResources('AWS::ApiGateway::RestApi'));
  const statements = rest?.Properties.Policy.Statement as { Principal: { AWS: unknown } }[];
  expect(statements.map(({ Principal }) => Principal.AWS)).toEqual([
    ['arn:aws:iam::888888888888:root', `${their}:role/other`, `${their}:role/partner`],
  ]);
  expect(statements[0]).toMatchObject({
    Action: 'execute-api:Invoke',
    Resource: 'execute-api:/v1/POST/invocations',
  });
});

test('names tell the APIs of models apart: metrics have no other', () => {
  const stack = testStack();
  const endpoint = RealtimeEndpoint.fromEndpointName(stack, 'Endpoint', 'digits');
  for (const id of ['A', 'B']) new EndpointApi(stack, id, { endpoint, auth: 'iam' });
  const apis = Template.fromStack(stack).findResources('AWS::ApiGateway::RestApi');
  const names = Object.values(apis).map(({ Properties }) => Properties.Name as string);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^Test-?[AB]/);
});

test('one address: the stack shows none that answers nothing', () => {
  const { Outputs = {} } = Template.fromStack(apiOf().stack).toJSON();
  expect(Object.keys(Outputs)).toEqual([]);
});

test('the API leads to another endpoint only once that is proven, and may call the former until then', () => {
  const resources = (endpointName: string) => {
    const { stack } = apiOf({}, { endpointName });
    const template = Template.fromStack(stack);
    const all = template.toJSON().Resources as Record<string, Resource>;
    const policies = Object.entries(all).filter(
      ([, { Type, Properties }]) =>
        Type === 'AWS::IAM::Policy' && JSON.stringify(Properties?.Roles).includes('ApiRole'),
    );
    return { all, policies };
  };
  const { all, policies } = resources('digits');
  for (const [id, { Type, Properties }] of Object.entries(all)) {
    const calls = Type === METHOD && Properties?.HttpMethod === 'POST';
    const shows = Type === 'AWS::ApiGateway::Deployment' || Type === 'AWS::ApiGateway::Stage';
    if (!calls && !shows) continue;
    const needed = [...closure(all, id)].map((one) => all[one]?.Type);
    expect(needed).toContain('Custom::SageMakerDeployedConfiguration');
    expect(needed).toContain('AWS::IAM::Policy');
  }
  expect(policies).toHaveLength(1);
  // A policy under another name is made before the old one is deleted.
  expect(resources('digits-serverless').policies[0]?.[0]).not.toBe(policies[0]?.[0]);
});

describe('autoscaling begins after all that waits for the endpoint: a rollback cannot change a variant that is registered', () => {
  const SCALING = 'AWS::ApplicationAutoScaling::';
  const scaling = { maxInstances: 4, target: { concurrentRequests: 4 } };
  const domain = {
    name: 'models.example.com',
    certificateArn: 'arn:aws:acm:us-east-1:111111111111:certificate/0123',
    hostedZone: { id: 'Z0123456789', name: 'example.com' },
  };
  /** What comes after the endpoint, and is not there before each resource of autoscaling. */
  function lateTypes(stack: Stack): string[] {
    const all = Template.fromStack(stack).toJSON().Resources as Record<string, Resource>;
    const ids = Object.keys(all);
    const scales = ids.filter((id) => all[id]?.Type.startsWith(SCALING));
    expect(scales).toHaveLength(2);
    const waits = ids.filter((id) =>
      [...closure(all, id)].some((one) => all[one]?.Type === 'AWS::SageMaker::Endpoint'),
    );
    return scales.flatMap((id) => {
      const before = closure(all, id);
      return waits
        .filter((one) => !scales.includes(one) && !before.has(one))
        .map((one) => all[one]?.Type ?? '');
    });
  }

  test.each<[string, Partial<EndpointApiProps>]>([
    ['keys', {}],
    ['a domain', { domain }],
    ['tokens', { auth: 'jwt', jwt: JWT, corsOrigin: 'https://app.example.com' }],
    ['signatures', { auth: 'iam' }],
  ])('an API with %s', (_, props) => {
    const stack = testStack();
    const variants = [{ model: testModel(stack, {}, 'Scaled'), scaling }];
    expect(lateTypes(apiOf(props, { variants }, stack).stack)).toEqual([]);
    const other = apiOf(props);
    other.endpoint.autoScaleInstanceCount(scaling);
    expect(lateTypes(other.stack)).toEqual([]);
  });

  test('an API and a smoke test of a configuration', () => {
    const app = testApp();
    const uri = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
    const endpoint = { instanceType: 'ml.c6i.large', scaling, api: { auth: 'apiKey', domain } };
    const models = { m: { model: MODEL_DIR, endpoint } };
    addServingStacks(app, parseConfig({ image: { uri, variant: 'cpu' }, models }, 'test'));
    expect(lateTypes(app.node.findChild('tensorflow-m') as Stack)).toEqual([]);
  });

  test.each(['before', 'after'])('an API in a nested stack, made %s the scaling', (when) => {
    const { stack, endpoint } = apiOf({}, {});
    if (when === 'after') endpoint.autoScaleInstanceCount(scaling);
    const inner = new NestedStack(new NestedStack(stack, 'Beside'), 'Inner');
    new EndpointApi(inner, 'Api', { endpoint, auth: 'iam' });
    if (when === 'before') endpoint.autoScaleInstanceCount(scaling);
    expect(lateTypes(stack)).toEqual([]);
    const all = Template.fromStack(stack).toJSON().Resources as Record<string, Resource>;
    const [nested = ''] = Object.keys(
      Template.fromStack(stack).findResources('AWS::CloudFormation::Stack'),
    );
    // It does not wait for itself.
    expect([...closure(all, nested)].filter((id) => all[id]?.Type.startsWith(SCALING))).toEqual([]);
  });

  test.each<[string, number, (app: App) => readonly [of: Stack, api: Stack]]>([
    ['the same stack', 0, (app) => [new Stack(app, 'Same'), app.node.findChild('Same') as Stack]],
    [
      'a nested stack',
      0,
      (app) => {
        const stack = new Stack(app, 'Outer');
        return [stack, new NestedStack(stack, 'Inner')];
      },
    ],
    // Its failure rolls back its own stack alone.
    ['a stack that is deployed apart', 0, (app) => [new Stack(app, 'One'), new Stack(app, 'Two')]],
    [
      'a nested sibling',
      1,
      (app) => {
        const stack = new Stack(app, 'Outer');
        return [new NestedStack(stack, 'One'), new NestedStack(stack, 'Two')];
      },
    ],
    [
      'the parent of a nested endpoint',
      1,
      (app) => {
        const stack = new Stack(app, 'Outer');
        return [new NestedStack(stack, 'Inner'), stack];
      },
    ],
  ])('an API in %s: %i warnings', (_, count, places) => {
    const [of, place] = places(testApp());
    const endpoint = new RealtimeEndpoint(of, 'Endpoint', {
      variants: [{ model: testModel(of) }],
    });
    new EndpointApi(place, 'Api', { endpoint, auth: 'iam' });
    const still = new RealtimeEndpoint(of, 'Still', {
      variants: [{ model: testModel(of, {}, 'M') }],
    });
    new EndpointApi(place, 'StillApi', { endpoint: still, auth: 'iam' });
    endpoint.autoScaleInstanceCount(scaling);
    const repair = Match.stringLikeRegexp('deregister-scalable-target');
    expect(
      Annotations.fromStack(place.nestedStackParent ?? place).findWarning('*', repair),
    ).toHaveLength(count);
  });
});

test.each([
  ['another account', 'arn:aws:sagemaker:us-east-1:999999999999:endpoint/other'],
  ['another region', 'arn:aws:sagemaker:eu-west-1:123456789012:endpoint/other'],
])('an endpoint of %s is refused', (_, arn) => {
  const stack = new Stack(testApp(), 'Mine', {
    env: { account: '123456789012', region: 'us-east-1' },
  });
  const endpoint = RealtimeEndpoint.fromEndpointArn(stack, 'Theirs', arn);
  expect(() => new EndpointApi(stack, 'Api', { endpoint, auth: 'iam' })).toThrow(
    'and the API in 123456789012/us-east-1',
  );
});

test("the log of the function that checks tokens is under the endpoint's key, or its own", () => {
  const keys = (own: boolean) => {
    const stack = testStack();
    const [theirs, mine] = [new Key(stack, 'Theirs'), new Key(stack, 'Mine')];
    const props = { auth: 'jwt', jwt: JWT, ...(own && { encryptionKey: mine }) } as const;
    apiOf(props, { encryptionKey: theirs }, stack);
    const groups = Template.fromStack(stack).findResources('AWS::Logs::LogGroup');
    const [log] = Object.entries(groups).filter(([id]) => id.includes('AuthorizerLog'));
    return JSON.stringify(log?.[1].Properties.KmsKeyId);
  };
  expect(keys(false)).toMatch(/Theirs/);
  expect(keys(true)).toMatch(/Mine/);
});

test('tokens: a function with issuer, audience and scopes', () => {
  const { stack } = apiOf({ auth: 'jwt', jwt: { ...JWT, scopes: ['predict'] } });
  const template = Template.fromStack(stack);
  template.hasResourceProperties(METHOD, { AuthorizationType: 'CUSTOM', HttpMethod: 'POST' });
  template.hasResourceProperties('AWS::ApiGateway::Authorizer', { Type: 'TOKEN' });
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: Match.objectLike({
        JWT_ISSUER: JWT.issuer,
        JWT_AUDIENCE: '["digits"]',
        JWT_SCOPES: '["predict"]',
      }),
    },
  });
});

test('a name of its own, which is then the only one', () => {
  const domain = {
    name: 'models.example.com',
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1234',
    hostedZone: { id: 'Z1', name: 'example.com' },
  };
  const stack = new Stack(testApp(), 'Named', {
    env: { account: '123456789012', region: 'us-east-1' },
  });
  const { api } = apiOf({ domain }, {}, stack);
  const template = Template.fromStack(stack);
  expect(api.url).toBe('https://models.example.com/invocations');
  template.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true });
  template.hasResourceProperties('AWS::ApiGateway::DomainName', {
    DomainName: 'models.example.com',
    SecurityPolicy: 'TLS_1_2',
  });
  template.resourceCountIs('AWS::ApiGateway::BasePathMapping', 1);
  template.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'models.example.com.' });
  const certificateArn = domain.certificateArn.replace('us-east-1', 'eu-central-1');
  const other = new Stack(testApp(), 'Other', {
    env: { account: stack.account, region: stack.region },
  });
  expect(() => apiOf({ domain: { ...domain, certificateArn } }, {}, other)).toThrow(
    'domain.certificateArn: a certificate of eu-central-1, and the API is in us-east-1',
  );
});

test('one of several variants may be named, and no other header of SageMaker', () => {
  const stack = testStack();
  const variants = ['a', 'b'].map((variantName) => ({
    model: testModel(stack, {}, variantName),
    variantName,
  }));
  apiOf({}, { variants }, stack);
  const parameters = (target: Stack) => {
    const [method] = Object.values(Template.fromStack(target).findResources(METHOD));
    return Object.keys(method?.Properties.Integration.RequestParameters).map((name) =>
      name.split('.').at(-1),
    );
  };
  expect(parameters(stack)).toContain('X-Amzn-SageMaker-Target-Variant');
  expect(parameters(apiOf().stack)).toEqual([
    'Content-Type',
    'Accept',
    'X-Amzn-SageMaker-Custom-Attributes',
    'X-Amzn-SageMaker-Inference-Id',
  ]);
});

test('limits of size and time are shown; more time than API Gateway allows is a warning', () => {
  const told = (timeout: Duration | undefined) => {
    const { stack } = apiOf(timeout ? { timeout } : {});
    const notes = Annotations.fromStack(stack);
    return [
      notes.findInfo('/Test/Api', Match.stringLikeRegexp('up to 10 MB')).length,
      notes.findWarning('/Test/Api', Match.stringLikeRegexp('higher quota')).length,
    ];
  };
  expect(told(undefined)).toEqual([1, 0]);
  expect(told(Duration.seconds(45))).toEqual([1, 1]);
  const stack = testStack();
  const image = existingImage({ variant: 'cpu' });
  const model = testModel(stack, { image, networkIsolation: false }, 'Small');
  const serverless = { memory: Size.gibibytes(2) };
  const variants = [{ model, serverless }];
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', { variants });
  new EndpointApi(stack, 'Api', { endpoint, auth: 'iam' });
  Annotations.fromStack(stack).hasInfo('/Test/Api', Match.stringLikeRegexp('SageMaker takes 4 MB'));
});

test.each<[string, Partial<EndpointApiProps>]>([
  ['jwt: missing', { auth: 'jwt' }],
  [`jwt: given with auth 'apiKey'`, { jwt: JWT }],
  ['jwt.issuer', { auth: 'jwt', jwt: { ...JWT, issuer: 'http://login.example.com' } }],
  ['jwt.audience: empty', { auth: 'jwt', jwt: { ...JWT, audience: [] } }],
  ['throttle.requestsPerSecond', { throttle: { requestsPerSecond: 0, burst: 1 } }],
  ['throttle.burst', { throttle: { requestsPerSecond: 1, burst: 0.5 } }],
  ['corsOrigin', { corsOrigin: 'https://app.example.com/page' }],
  ['timeout', { timeout: Duration.seconds(61) }],
])('%s is refused', (message, props) => {
  expect(() => apiOf(props)).toThrow(message);
});

test('an asynchronous endpoint is refused', () => {
  const stack = testStack();
  const asyncInference = { outputBucket: new Bucket(stack, 'Bucket') };
  expect(() => apiOf({}, { asyncInference }, stack)).toThrow('endpoint: an asynchronous endpoint');
});
