/** The verbs that talk to AWS, as installed: S3, SageMaker and Step Functions by moto, endpoints by a stand-in. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, CreateStackCommand } from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateModelCommand, SageMakerClient } from '@aws-sdk/client-sagemaker';
import { CreateStateMachineCommand, SFNClient } from '@aws-sdk/client-sfn';
import { startTransforms } from 'sagemaker-tfs/stand-ins';
import { ENDPOINT, standIn } from '../../client/test/sagemaker-stand-in.ts';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../rehearse/moto.ts';
import { startS3 } from '../stacks/s3-stand-in.ts';
import { checkAccountVerbs } from './aws-account.ts';
import { copyExample, SAMPLE } from './command.ts';
import type { Project } from './project.ts';
import { serving } from './served.ts';

const BUCKET = 'models';
const INPUTS = `s3://${BUCKET}/in/`;
const ROLE = 'arn:aws:iam::123456789012:role/serving';
const IMAGE = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
/** Name of a stack whose output is the state machine. */
const MACHINE = 'tiles-batch';
const CREDENTIALS = { ...TEST_CREDENTIALS, AWS_EC2_METADATA_DISABLED: 'true' };

/** What an earlier run has written. */
const MADE = ['again.tar.gz', 'answers.jsonl', 'parts', 'baseline.json'];

/** Runs a line of the command; what it printed is JSON that has this in it. */
type Ask = (prints: RegExp, ...args: string[]) => Promise<void>;

/** @throws Error where a verb does not do its work */
export async function checkAws(project: Project): Promise<void> {
  for (const name of MADE) {
    rmSync(join(project.directory, name), { recursive: true, force: true });
  }
  copyExample(project);
  if (!existsSync(join(project.directory, 'model.tar.gz'))) {
    const archive = ['--handler', 'inference.ts', '--out', 'model.tar.gz'];
    await project.command(['package', 'model', ...archive, '--no-verify']);
  }
  Object.assign(process.env, CREDENTIALS);
  const moto = await startMoto();
  const environment = { ...CREDENTIALS, AWS_ENDPOINT_URL: moto.url };
  const ask: Ask = async (prints, ...args) => {
    const { stdout } = await project.command([...args, '--json'], { environment });
    assert.match(stdout, prints, args.join(' '));
  };
  try {
    await putInputs(project, moto);
    // Most of their time is the starting of programs; there are two processors or more.
    await Promise.all([
      checkSources(project, environment),
      checkJobs(project, ask, moto).then(() => checkRegistry(ask)),
      checkCaptures(ask).then(() => checkWorkers(ask)),
      checkAccountVerbs(project, environment),
    ]);
  } finally {
    await moto.stop();
  }
}

async function putInputs(project: Project, moto: Moto): Promise<void> {
  const s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  const put = (Key: string, Body: Uint8Array | string) =>
    s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  await put('digits.tar.gz', readFileSync(join(project.directory, 'model.tar.gz')));
  await put('in/a.jpg', readFileSync(join(project.directory, SAMPLE)));
  for (const variant of ['now', 'next']) {
    await put(`captures/endpoint/${variant}/2026/11/23/10/a.jsonl`, captureLines());
  }
  s3.destroy();
  const sagemaker = new SageMakerClient({ endpoint: moto.url });
  await sagemaker.send(new CreateModelCommand({ ModelName: 'digits', ExecutionRoleArn: ROLE }));
  sagemaker.destroy();
  await makeMachine(moto);
}

/** A state machine, and a stack that names it. */
async function makeMachine({ url }: Moto): Promise<void> {
  const sfn = new SFNClient({ endpoint: url });
  const definition = JSON.stringify({ StartAt: 'A', States: { A: { Type: 'Succeed' } } });
  const { stateMachineArn } = await sfn.send(
    new CreateStateMachineCommand({ name: 'Tiles', roleArn: ROLE, definition }),
  );
  sfn.destroy();
  const cloudFormation = new CloudFormationClient({ endpoint: url });
  const TemplateBody = JSON.stringify({
    Resources: { Topic: { Type: 'AWS::SNS::Topic' } },
    Outputs: { StateMachineArn: { Value: stateMachineArn } },
  });
  await cloudFormation.send(new CreateStackCommand({ StackName: MACHINE, TemplateBody }));
  cloudFormation.destroy();
}

/** What an endpoint captures of forty requests. */
function captureLines(): string {
  const side = (value: unknown) => ({
    observedContentType: 'application/json',
    data: JSON.stringify(value),
    encoding: 'JSON',
  });
  return Array.from({ length: 40 }, (_, i) =>
    JSON.stringify({
      captureData: {
        endpointInput: side({ instances: [20 + i] }),
        endpointOutput: side({ predictions: [[i / 40, 1 - i / 40]] }),
      },
      eventMetadata: { eventId: `event-${i}` },
      eventVersion: '0',
    }),
  ).join('\n');
}

/** `s3://` sources, and an endpoint and transform jobs in front of the served one. */
async function checkSources(
  project: Project,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const source = `s3://${BUCKET}/digits.tar.gz`;
  await project.command(['inspect', source], { environment });
  await project.command(['package', source, '--out', 'again.tar.gz', '--no-verify'], {
    environment,
  });
  const check = async (url: string) => {
    await checkEndpoint(project, url);
    await checkProbe(project, url);
  };
  await serving(project, [source], check, environment);
}

async function checkEndpoint(project: Project, runtime: string): Promise<void> {
  const sagemaker = await standIn(runtime);
  const environment = { ...CREDENTIALS, AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemaker.url };
  const ask = (verb: string, ...more: string[]) =>
    project.command([verb, SAMPLE, '--endpoint', ENDPOINT, ...more], { environment });
  try {
    const { stdout } = await ask('invoke');
    assert.equal(JSON.parse(stdout).predictions[0].digit, 7);
    const [request] = sagemaker.requests;
    assert.match(String(request?.headers.authorization), /^AWS4-HMAC-SHA256 /);
    await ask('bench', '--requests', '3');
    await ask('tune', '--seconds', '1', '--max-concurrency', '1');
  } finally {
    await sagemaker.stop();
  }
}

/** moto's transform jobs do nothing; the stand-in's ask the served model. */
async function checkProbe(project: Project, runtime: string): Promise<void> {
  const s3 = await startS3(100);
  const transforms = await startTransforms(s3, runtime, {
    outputOf: (key) => `${key}.out`,
    ...{ deletedStops: false, failureStops: false, ends: true, failures: [] },
    longestManifest: Number.POSITIVE_INFINITY,
  });
  const environment = {
    ...CREDENTIALS,
    AWS_ENDPOINT_URL: transforms.url,
    AWS_ENDPOINT_URL_S3: s3.url,
  };
  const places = ['--output-uri', 's3://data/answers', '--sample', SAMPLE, '--interval', '1'];
  try {
    await project.command(['batch', 'probe', '--model-name', 'm', ...places], { environment });
    assert.ok(s3.objects.has('data/answers/_shards/facts.json'));
  } finally {
    await transforms.close();
    await s3.close();
  }
}

/** A transform job, from its start to its outputs; and a run of the state machine. */
async function checkJobs(project: Project, ask: Ask, moto: Moto): Promise<void> {
  const name = ['--job-name', 'job-1', '--model-name', 'digits'];
  const places = ['--input-uri', INPUTS, '--output-uri', `s3://${BUCKET}/out`];
  await ask(/"started": true/, 'batch', 'start', ...name, ...places);
  await putOutput(moto);
  await ask(/"Completed"/, 'batch', 'watch', 'job-1');
  await ask(/"missing": 0/, 'batch', 'verify', 'job-1');
  const files = ['--out', 'parts', '--part-keys', '1', '--format', 'parquet'];
  await Promise.all([
    ask(/"outputs": 1/, 'batch', 'fetch', 'job-1', '--out', 'answers.jsonl'),
    ask(/"outputs": 1/, 'batch', 'fetch', `s3://${BUCKET}/out/`, ...files),
    ask(/"execution": "arn:/, 'batch', 'start', '--state-machine', MACHINE),
  ]);
  const inside = (path: string) => join(project.directory, path);
  assert.match(readFileSync(inside('answers.jsonl'), 'utf8'), /"digit":\s*7/);
  assert.ok(readdirSync(inside('parts')).some((file) => file.endsWith('.parquet')));
}

/** What the job would write; moto's jobs write nothing. */
async function putOutput(moto: Moto): Promise<void> {
  const s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  const Body = '{"predictions":[{"digit":7}]}';
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'out/a.jpg.out', Body }));
  s3.destroy();
}

async function checkRegistry(ask: Ask): Promise<void> {
  const to = ['--group', 'digits', '--to', `s3://${BUCKET}/registry`, '--image', IMAGE];
  await ask(/:model-package\/digits\/1"/, 'register', 'model.tar.gz', ...to);
}

async function checkCaptures(ask: Ask): Promise<void> {
  const source = `s3://${BUCKET}/captures/`;
  const variants = ['--production', 'now', '--shadow', 'next'];
  await ask(/"records": 80/, 'captures', 'baseline', source, '--out', 'baseline.json');
  await Promise.all([
    ask(/"drifted": 0/, 'captures', 'drift', source, '--baseline', 'baseline.json'),
    ask(/"pairs": 40/, 'captures', 'compare', source, ...variants),
  ]);
}

/** The batch worker, with a model and as the packer; and a manifest of some of its inputs. */
async function checkWorkers(ask: Ask): Promise<void> {
  const out = (name: string) => `s3://${BUCKET}/${name}/`;
  const model = ['--model', 'model.tar.gz', '--content-type', 'application/x-image'];
  const worker = ['--input', INPUTS, '--output', out('answers'), ...model];
  await ask(/"answers": 1,/, 'batch', 'worker', ...worker);
  await Promise.all([
    ask(/"answers": 1,/, 'batch', 'pack', INPUTS, '--out', out('packed')),
    ask(
      /"keys": 1|"inputs": 1/,
      'batch',
      'sample',
      '--input-uri',
      INPUTS,
      '--out',
      `${out('some')}s.manifest`,
    ),
  ]);
}
