/** `npm run first-account` against moto; SageMaker's runtime, docker and the AWS CLI are stand-ins. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DescribeRepositoriesCommand, ECRClient } from '@aws-sdk/client-ecr';
import { IAMClient, ListRolesCommand } from '@aws-sdk/client-iam';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import {
  ListEndpointConfigsCommand,
  ListEndpointsCommand,
  ListModelsCommand,
  SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { ListStateMachinesCommand, SFNClient } from '@aws-sdk/client-sfn';
import { freePort } from '../rehearse/free-port.ts';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../rehearse/moto.ts';

const RUN = resolve('test/first-account/run.ts');
const PROBE = resolve('test/first-account/probe/server.mjs');

let moto: Moto;
let probe: ChildProcess;
let probeUrl: string;
let standIn: Server;
let environment: NodeJS.ProcessEnv;
/** Endpoint that never answers. */
let silent = '';
/** Operation that is refused. */
let refused = 'none';
/** Calls of CreateModel that come before SageMaker knows the role. */
let tooEarly = 0;
/** Definition of the state machine. */
let definition = '{}';

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const post = (url: string, body: string, method = 'POST') =>
  fetch(url, { method, ...(method === 'POST' && { body }) });

/** What SageMaker does with a request that names a model: it makes room, loads it, and asks it. */
async function askModel(model: string, body: string): Promise<Response> {
  const loading = JSON.stringify({ model_name: model, url: '/' });
  const { status } = await post(`${probeUrl}/models`, loading);
  if (status === 507) {
    const { models } = (await (await fetch(`${probeUrl}/models`)).json()) as {
      models: { modelName: string }[];
    };
    for (const { modelName } of models) await post(`${probeUrl}/models/${modelName}`, '', 'DELETE');
    await post(`${probeUrl}/models`, loading);
  }
  return post(`${probeUrl}/models/${model}/invoke`, body);
}

/** The runtime asks the probe; the rest goes to moto, and a transform job writes its outputs. */
async function answerAsAws(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const name = /^\/endpoints\/(.*)\/invocations/.exec(request.url ?? '')?.[1];
  if (name !== undefined) {
    if (name === silent) return;
    const model = request.headers['x-amzn-sagemaker-target-model'];
    const answer =
      typeof model === 'string'
        ? await askModel(model, body.toString())
        : await post(`${probeUrl}/invocations`, body.toString());
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
    return;
  }
  const target = String(request.headers['x-amz-target']);
  if (target.endsWith(`.${refused}`)) {
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.1' });
    response.end('{"__type":"AccessDeniedException","message":"not for you"}');
    return;
  }
  if (target.endsWith('.CreateModel') && tooEarly > 0) {
    tooEarly -= 1;
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.1' });
    const message = 'Could not assume role arn:aws:iam::123456789012:role/tfs-first-account.';
    response.end(JSON.stringify({ __type: 'ValidationException', message }));
    return;
  }
  if (target.endsWith('.CreateStateMachine')) {
    ({ definition } = JSON.parse(body.toString()) as { definition: string });
  }
  if (target.endsWith('.StartExecution')) await runMachine();
  if (target.endsWith('CreateTransformJob')) {
    const { TransformOutput } = JSON.parse(body.toString()) as {
      TransformOutput: { S3OutputPath: string };
    };
    const seen = await (await post(`${probeUrl}/invocations`, '{}')).text();
    for (const key of ['a.json.out', 'sub/b.json.out']) {
      const path = TransformOutput.S3OutputPath.replace('s3://', '');
      await fetch(`${moto.url}/${path}${key}`, { method: 'PUT', body: seen });
    }
  }
  const headers = Object.entries(request.headers).filter(
    ([header]) => !/^(host|connection|content-length|transfer-encoding|expect)$/.test(header),
  );
  const answer = await fetch(`${moto.url}${request.url}`, {
    method: request.method ?? 'POST',
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: new Uint8Array(body),
  });
  response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1' });
  const text = await answer.text();
  // moto leaves executions running.
  response.end(target.endsWith('.DescribeExecution') ? text.replace('RUNNING', 'SUCCEEDED') : text);
}

/** What Step Functions does in the machine's one state. */
async function runMachine(): Promise<void> {
  const { States } = JSON.parse(definition) as { States: { Create: { Arguments: object } } };
  await fetch(`http://127.0.0.1:${(standIn.address() as AddressInfo).port}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'SageMaker.CreateTransformJob',
      // By which moto knows the service.
      authorization:
        'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/sagemaker/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(States.Create.Arguments),
  });
}

/** A call that fails, as the held one does where the probe is ended before it answers, fails for who made it. */
function startStandIn(): Server {
  return createServer((request, response) => {
    answerAsAws(request, response).catch((error: Error) => response.destroy(error));
  });
}

/** File of the calls that delete logs. */
let deletedLogs = '';

/** A folder with the programs that are called, as scripts. */
function programs(): string {
  const folder = mkdtempSync(join(tmpdir(), 'first-account-'));
  mkdirSync(join(folder, 'bin'));
  const scripts = {
    docker: 'cat > /dev/null < /dev/null; exit 0',
    aws: `case "$*" in
  *list-metrics*) echo '{"Metrics":[{"MetricName":"Probe"}]}' ;;
  *describe-log-groups*) echo '{"logGroups":[{"logGroupName":"/aws/sagemaker/Endpoints/tfs-first-account-cpu"}]}' ;;
  *describe-log-streams*) echo '{"logStreams":[{"logStreamName":"tfs-first-account-transform/i-1"}]}' ;;
  *delete-log-*) echo "$@" >> ${join(folder, 'deleted')} ;;
  *) echo '{"events":[{"message":"PROBE alive 0.0"},{"message":"PROBE alive 27.5"}]}' ;;
esac`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(folder, 'bin', name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
  deletedLogs = join(folder, 'deleted');
  return join(folder, 'bin');
}

beforeAll(async () => {
  const port = await freePort();
  probe = spawn(process.execPath, [PROBE], {
    env: { ...process.env, PORT: String(port), PROBE_HOLD_MS: '8000' },
    stdio: 'ignore',
  });
  probeUrl = `http://127.0.0.1:${port}`;
  moto = await startMoto();
  standIn = startStandIn().listen(0, '127.0.0.1');
  await once(standIn, 'listening');
  const own = `http://127.0.0.1:${(standIn.address() as AddressInfo).port}`;
  const bin = programs();
  environment = {
    ...process.env,
    ...TEST_CREDENTIALS,
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: moto.url,
    AWS_ENDPOINT_URL_S3: moto.url,
    AWS_ENDPOINT_URL_SAGEMAKER: own,
    AWS_ENDPOINT_URL_SFN: own,
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: own,
    CDK_DOCKER: join(bin, 'docker'),
    PATH: `${bin}:${process.env.PATH}`,
  };
}, 120_000);
beforeEach(async () => {
  silent = '';
  refused = 'none';
  tooEarly = 0;
  rmSync(deletedLogs, { force: true });
  await moto.reset();
});
afterAll(async () => {
  standIn?.closeAllConnections();
  standIn?.close();
  probe?.kill('SIGKILL');
  await moto?.stop();
});

function start(...args: string[]) {
  // Not by the program `tsx`, which a signal ends before the run has deleted everything.
  const child = spawn(process.execPath, ['--import', 'tsx', RUN, '--pause', '0.2', ...args], {
    env: environment,
  });
  let text = '';
  const keep = (chunk: Buffer) => {
    text += chunk.toString();
    child.emit('said');
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = once(child, 'close').then(([status]) => ({
    status: status as number | null,
    text,
  }));
  const until = async (pattern: RegExp) => {
    while (!pattern.test(text)) {
      const { status } = (await Promise.race([once(child, 'said'), ended])) as { status?: number };
      if (status !== undefined) throw new Error(`it ended with ${status}: ${text}`);
    }
  };
  return { until, ended, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}

/** A run that is killed halfway, and leaves what it made. */
async function startAndKill() {
  silent = 'tfs-first-account-gpu';
  const { kill, until, ended } = start('--yes');
  await until(/manifests: done/);
  kill('SIGKILL');
  await ended;
}

/** Names of what the account holds. */
async function left(): Promise<string[]> {
  const config = {
    region: 'us-east-1',
    endpoint: moto.url,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const sagemaker = new SageMakerClient(config);
  const { Endpoints = [] } = await sagemaker.send(new ListEndpointsCommand());
  const { EndpointConfigs = [] } = await sagemaker.send(new ListEndpointConfigsCommand());
  const { Models = [] } = await sagemaker.send(new ListModelsCommand());
  const { stateMachines = [] } = await new SFNClient(config).send(new ListStateMachinesCommand());
  const { Roles = [] } = await new IAMClient(config).send(new ListRolesCommand());
  const { Buckets = [] } = await new S3Client({ ...config, forcePathStyle: true }).send(
    new ListBucketsCommand(),
  );
  const { repositories = [] } = await new ECRClient(config).send(new DescribeRepositoriesCommand());
  return [
    ...Endpoints.map(({ EndpointName }) => `endpoint ${EndpointName}`),
    ...EndpointConfigs.map(({ EndpointConfigName }) => `configuration ${EndpointConfigName}`),
    ...stateMachines.map(({ name }) => `state machine ${name}`),
    ...Models.map(({ ModelName }) => `model ${ModelName}`),
    ...Roles.map(({ RoleName }) => `role ${RoleName}`),
    ...Buckets.map(({ Name }) => `bucket ${Name}`),
    ...repositories.map(({ repositoryName }) => `repository ${repositoryName}`),
  ];
}

test('every fact is answered, and nothing is left', async () => {
  tooEarly = 5;
  const { ended } = start('--yes');
  const { status, text } = await ended;
  expect(text).toMatch(/together \$[0-4]\.\d\d at most/);
  const answer = (fact: string) =>
    text.split('\n').find((line) => line.includes(fact)) ?? `no line about ${fact}`;
  expect(answer("Docker's manifest")).toMatch(/^yes/);
  expect(answer('OCI manifest')).toMatch(/^yes/);
  // The probe runs here as whoever runs the tests, and without a driver.
  expect(answer('user (65532)')).toContain(`uid ${process.getuid?.()}`);
  expect(answer('without an AMI')).toMatch(/^(yes|no)/);
  expect(answer('lines in the log')).toMatch(/^yes.*1 metrics/);
  expect(answer('SIGTERM')).toMatch(/^yes.*27\.5 s/);
  expect(answer('beside /tmp')).toMatch(/^(yes|no) .*writable: /);
  expect(answer('while a request is worked on')).toMatch(/^yes.*1 times/);
  expect(answer('whole keys')).toMatch(/^yes.*a\.json\.out sub\/b\.json\.out/);
  expect(tooEarly).toBe(0);
  expect(answer('TransformAmiVersion is taken')).toMatch(/^(yes|no)/);
  expect(answer('Step Functions hands')).toMatch(/^yes.*al2-ami-sagemaker-batch-gpu-535/);
  expect(text).not.toMatch(/^unknown/m);
  expect(status).toBe(0);
  expect(await left()).toEqual([]);
  const deleted = readFileSync(deletedLogs, 'utf8');
  expect(deleted).toContain('--log-group-name /aws/sagemaker/Endpoints/tfs-first-account-cpu ');
  expect(deleted).toContain('--log-stream-name tfs-first-account-transform/i-1 ');
}, 120_000);

test('where Step Functions refuses the job, it is made without it', async () => {
  refused = 'CreateStateMachine';
  const { status, text } = await start('--yes').ended;
  expect(text).toMatch(/^unknown Step Functions hands TransformAmiVersion.*not for you/m);
  expect(text).toMatch(/^yes {5}outputs of a transform job/m);
  expect(status).toBe(0);
  expect(await left()).toEqual([]);
}, 120_000);

test('Ctrl-C deletes what was made, and tells what it knows', async () => {
  silent = 'tfs-first-account-gpu';
  const { kill, until, ended } = start('--yes');
  await until(/manifests: done/);
  expect((await left()).length).toBeGreaterThan(0);
  kill('SIGINT');
  const { status, text } = await ended;
  expect(text).toMatch(/^yes {5}an image with Docker's manifest/m);
  expect(text).toMatch(/^unknown ml\.g4dn\.xlarge without an AMI/m);
  expect(status).toBe(130);
  expect(await left()).toEqual([]);
}, 120_000);

test('--clean deletes what a killed run left, and nothing is no error', async () => {
  await startAndKill();
  expect((await left()).length).toBeGreaterThan(0);
  for (let i = 0; i < 2; i++) expect(await start('--clean').ended).toMatchObject({ status: 0 });
  expect(await left()).toEqual([]);
}, 120_000);

test('what cannot be listed keeps nothing else from being deleted', async () => {
  await startAndKill();
  refused = 'ListEndpoints';
  const { status, text } = await start('--clean').ended;
  expect(status).toBe(1);
  expect(text).toContain('left: perhaps endpoints: not for you');
  expect((await left()).filter((name) => !name.startsWith('endpoint '))).toEqual([]);
}, 120_000);

test('without a yes nothing is made', async () => {
  const { status, text } = await start().ended;
  expect(text).toContain('Nothing was made');
  expect(status).toBe(2);
  expect(await left()).toEqual([]);
}, 120_000);
