import { existsSync, readFileSync } from 'node:fs';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { useScratch, withCode } from '../testing/scratch.ts';
import { writeBakedImage } from './baked-image.ts';

const scratch = useScratch();
const source = () => fixtureModel('strings').directory;
const read = (name: string) => readFileSync(scratch.path('context', name), 'utf8');

test('the build context holds the laid-out model and a Dockerfile from the serving image', async () => {
  const baseImage = '123.dkr.ecr.eu-west-1.amazonaws.com/serving:1.0';
  const out = scratch.path('context');
  const { manifest } = await writeBakedImage({ source: source(), out, baseImage });
  expect(existsSync(scratch.path('context/model/1/saved_model.pb'))).toBe(true);
  expect(JSON.parse(read('model/code/manifest.json'))).toEqual(manifest);
  const lines = read('Dockerfile').split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      `ARG BASE_IMAGE=${baseImage}`,
      'COPY model/ /opt/sagemaker-tfs/model/',
      'ENV SAGEMAKER_TFS_MODEL_DIR=/opt/sagemaker-tfs/model',
      'EXPOSE 8080',
    ]),
  );
  expect(read('Dockerfile')).not.toContain('8500');
});

test('TensorFlow Serving’s own ports are opened only where asked', async () => {
  const out = scratch.path('context');
  await writeBakedImage({ source: source(), out, baseImage: 'serving', exposeModelServer: true });
  expect(read('Dockerfile')).toContain('EXPOSE 8500 8501');
  expect(read('Dockerfile')).toContain('SAGEMAKER_SAFE_PORT_RANGE=8500-8501');
});

test('a name that is no image and a folder that is taken are refused', async () => {
  const out = scratch.path('context');
  const bad = writeBakedImage({ source: source(), out, baseImage: 'a\nRUN evil' });
  await expect(bad).rejects.toThrow(withCode('BAD_OPTION'));
  scratch.write('context/file', 'mine');
  const taken = writeBakedImage({ source: source(), out, baseImage: 'serving' });
  await expect(taken).rejects.toThrow(withCode('BAD_OPTION'));
  expect(read('file')).toBe('mine');
});
