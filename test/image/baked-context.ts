/** The build context of an image that holds a model, as the CDK stages it for `docker build`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BakedImage, ServingImage } from '@sagemaker-tfs/cdk';
import { App, Stack } from 'aws-cdk-lib/core';

/**
 * Synthesizes a stack with a {@link BakedImage} of examples/digits.
 * @param outdir folder of the assembly
 */
export function bakedContext(root: string, outdir: string): { directory: string; target: string } {
  const stack = new Stack(new App({ outdir }), 'Baked');
  new BakedImage(stack, 'Model', {
    image: new ServingImage(stack, 'Image'),
    model: join(root, 'examples/digits/model'),
    handler: join(root, 'examples/digits/inference.ts'),
  });
  const assembly = (stack.node.root as App).synth();
  const assets = JSON.parse(readFileSync(join(outdir, 'Baked.assets.json'), 'utf8')) as {
    dockerImages: Record<string, { source: { directory: string; dockerBuildTarget: string } }>;
  };
  const baked = Object.values(assets.dockerImages).find(
    ({ source }) => source.dockerBuildTarget === 'baked',
  );
  if (!baked) throw new Error('The assembly has no image that holds a model.');
  const { directory, dockerBuildTarget: target } = baked.source;
  return { directory: join(assembly.directory, directory), target };
}
