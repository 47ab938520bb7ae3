/**
 * A deployment without an account: the real `cdk bootstrap` and `cdk deploy` against moto, which build the
 * image and push it to a registry on this machine. Then the deployed archive is served by the deployed image
 * and the deployed smoke test run against it, and a traced request followed through its spans and metrics. A second
 * deployment has a model that answers the wrong class, and must fail. At last both models go through the Model Registry.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { awsEnvironment, bootstrapAndDeploy } from './cdk.ts';
import { type Deployed, readDeployed } from './deployed.ts';
import { checkManifest } from './image-manifest.ts';
import { type ImageBuilder, startImageBuilder } from './images.ts';
import { startMoto } from './moto.ts';
import { followRequest } from './observed.ts';
import { deployRegistered } from './registered.ts';
import { type Serving, serveArchive, serveInImage } from './serve.ts';
import { runSmokeTest, type SmokeTestResponse } from './smoke-test.ts';

const WORK = resolve('.cache', 'rehearse');
const STACK = 'tensorflow-digits';
const PICTURE = join('examples', 'digits', 'samples', '00000-7.jpg');

/** A handler that is wrong by one, around the example's own. */
const BROKEN_HANDLER = `
import { inputHandler, outputHandler as right } from '../../examples/digits/inference.ts';
import type { TensorMap } from 'sagemaker-tfs/handler';
export { inputHandler };
export function outputHandler(outputs: TensorMap) {
  const { body, ...rest } = right(outputs);
  const { predictions } = body as { predictions: { digit: number }[] };
  const wrong = predictions.map(({ digit, ...more }) => ({ digit: (digit + 1) % 10, ...more }));
  return { ...rest, body: { predictions: wrong } };
}
`;

/** The app's configuration on the bases of the rehearsal, as it is or with another handler. */
function configWith(buildArgs: ImageBuilder['buildArgs'], handler?: string): string {
  return `
import config from '../../serving.config.ts';
const { digits } = config.models;
const image = { buildArgs: ${JSON.stringify(buildArgs)} };
const models = { digits: { ...digits, ${handler ? `handler: '${handler}'` : ''} } };
export default { ...config, image, models };
`;
}

async function main(): Promise<void> {
  mkdirSync(WORK, { recursive: true });
  const images = await startImageBuilder();
  const { buildArgs } = images;
  writeFileSync(join(WORK, 'good.config.ts'), configWith(buildArgs));
  writeFileSync(join(WORK, 'broken-inference.ts'), BROKEN_HANDLER);
  const brokenHandler = '.cache/rehearse/broken-inference.ts';
  writeFileSync(join(WORK, 'broken.config.ts'), configWith(buildArgs, brokenHandler));
  try {
    await rehearse(images);
  } finally {
    await images.stop();
  }
}

async function rehearse(images: ImageBuilder): Promise<void> {
  const moto = await startMoto();
  Object.assign(process.env, awsEnvironment(moto.url));
  const test = (deployed: Deployed, plan: string) => smokeTest(deployed, plan, moto.url, images);
  try {
    const good = await deploy(moto.url, 'good');
    if (images.registry) await checkManifest(images.registry.pulledFrom(good.image));
    check('the smoke test passes', await test(good, good.plan), /^SUCCESS/);
    const names = await whileServed(good, images, (serving) =>
      followRequest(serving, readFileSync(PICTURE)),
    );
    console.log(`\n✔ a request is in its caller's trace and in /metrics: ${names.join(', ')}`);
    // moto cannot update a stack; a new account can be deployed to.
    await moto.reset();
    const broken = await deploy(moto.url, 'broken');
    check(
      'a model that answers the wrong class fails the deployment',
      await test(broken, broken.plan),
      /^FAILED .*sample 'seven' over rest.*value at \$\.predictions\[0\]\.digit: expected 7, got 8/,
    );
    check(
      'another model than the one deployed fails it too',
      await test(good, broken.plan),
      /^FAILED .*fingerprint of the answering model: expected [0-9a-f]{16}, got [0-9a-f]{16}/,
    );
    await moto.reset();
    await deployRegistered({
      url: moto.url,
      work: '.cache/rehearse/registered',
      first: good.archive,
      second: broken.archive,
    });
  } finally {
    await moto.stop();
  }
}

async function deploy(url: string, name: string): Promise<Deployed> {
  const docker = resolve('test', 'rehearse', 'docker-stand-in.mjs');
  const config = `.cache/rehearse/${name}.config.ts`;
  bootstrapAndDeploy({ url, config, output: join(WORK, `${name}.out`), docker });
  return readDeployed(STACK, join(WORK, name));
}

/** Lets the function of `deployed` check `plan` on its served archive. */
function smokeTest(
  deployed: Deployed,
  plan: string,
  motoUrl: string,
  images: ImageBuilder,
): Promise<SmokeTestResponse> {
  return whileServed(deployed, images, (serving) => runSmokeTest(deployed, plan, serving, motoUrl));
}

/** Serves the archive of `deployed`, in its image where it was built. */
async function whileServed<T>(
  { archive, image }: Deployed,
  { program, registry }: ImageBuilder,
  work: (serving: Serving) => Promise<T>,
): Promise<T> {
  const serving =
    program === 'buildah' && registry
      ? await serveInImage(archive, registry.pulledFrom(image))
      : await serveArchive(archive);
  try {
    return await work(serving);
  } finally {
    await serving.stop();
  }
}

function check(what: string, { Status, Reason, Data }: SmokeTestResponse, wanted: RegExp): void {
  const got = `${Status} ${Reason}`;
  if (!wanted.test(got)) throw new Error(`${what}: got ${got}, wanted ${wanted}`);
  console.log(`\n✔ ${what}: ${got}`);
  if (Status === 'SUCCESS') console.log(Data);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
