/** The verbs that talk to AWS, as installed: S3, SageMaker and Step Functions by moto, endpoints by a stand-in. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateModelCommand, SageMakerClient } from '@aws-sdk/client-sagemaker';
import { ENDPOINT, standIn } from '../../client/test/sagemaker-stand-in.ts';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../rehearse/moto.ts';
import { checkAccountVerbs } from './aws-account.ts';
import { copyExample, SAMPLE } from './command.ts';
import type { Project } from './project.ts';
import { serving } from './served.ts';

const BUCKET = 'models';
const ROLE = 'arn:aws:iam::123456789012:role/serving';
const CREDENTIALS = { ...TEST_CREDENTIALS, AWS_EC2_METADATA_DISABLED: 'true' };

/** @throws Error where a verb does not do its work */
export async function checkAws(project: Project): Promise<void> {
  copyExample(project);
  await project.command(
    ['package', 'model', '--handler', 'inference.ts', '--out', 'model.tar.gz'],
    {},
  );
  Object.assign(process.env, CREDENTIALS);
  const moto = await startMoto();
  try {
    await putModel(project, moto);
    await checkSources(project, { ...CREDENTIALS, AWS_ENDPOINT_URL: moto.url });
    await checkJobs(project, moto);
    await checkAccountVerbs(project, { ...CREDENTIALS, AWS_ENDPOINT_URL: moto.url });
  } finally {
    await moto.stop();
  }
}

async function putModel(project: Project, moto: Moto): Promise<void> {
  const s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  const put = (Key: string, Body: Uint8Array) =>
    s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  await put('digits.tar.gz', readFileSync(join(project.directory, 'model.tar.gz')));
  await put('in/a.jpg', readFileSync(join(project.directory, SAMPLE)));
  s3.destroy();
  const sagemaker = new SageMakerClient({ endpoint: moto.url });
  await sagemaker.send(new CreateModelCommand({ ModelName: 'digits', ExecutionRoleArn: ROLE }));
  sagemaker.destroy();
}

/** `s3://` sources, and an endpoint in front of the served one. */
async function checkSources(
  project: Project,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const source = `s3://${BUCKET}/digits.tar.gz`;
  await project.command(['inspect', source], { environment });
  await project.command(['package', source, '--out', 'again.tar.gz'], { environment });
  const inS3 = [source];
  await serving(project, inS3, (url) => checkEndpoint(project, url), environment);
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

/** A transform job, from its start to its outputs. */
async function checkJobs(project: Project, moto: Moto): Promise<void> {
  const environment = { ...CREDENTIALS, AWS_ENDPOINT_URL: moto.url };
  const batch = (...args: string[]) => project.command(['batch', ...args], { environment });
  const name = ['--job-name', 'job-1', '--model-name', 'digits'];
  const places = ['--input-uri', `s3://${BUCKET}/in/`, '--output-uri', `s3://${BUCKET}/out`];
  await batch('start', ...name, ...places, '--json');
  await putOutput(moto);
  await batch('watch', 'job-1', '--json');
  await batch('verify', 'job-1', '--json');
  await batch('fetch', 'job-1', '--out', 'answers.jsonl');
  assert.match(readFileSync(join(project.directory, 'answers.jsonl'), 'utf8'), /"digit":\s*7/);
}

/** What the job would write; moto's jobs write nothing. */
async function putOutput(moto: Moto): Promise<void> {
  const s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  const Body = '{"predictions":[{"digit":7}]}';
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'out/a.jpg.out', Body }));
  s3.destroy();
}
