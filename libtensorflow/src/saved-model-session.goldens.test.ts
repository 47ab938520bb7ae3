import { firstDifference } from '../../test/fixtures/compare.ts';
import { fixtureModels, type GoldenCase, loadGoldens } from '../../test/fixtures/index.ts';
import { LibTensorFlowError, SavedModelSession } from './index.ts';

/** What differs from Python TensorFlow in one case; undefined if nothing does. */
async function difference(
  session: SavedModelSession,
  signature: string,
  { inputs, outputs, error }: GoldenCase,
  tolerance: number,
): Promise<string | undefined> {
  const wanted = outputs && { outputs: Object.keys(outputs) };
  try {
    const result = await session.run(signature, inputs, wanted);
    const differs = outputs ? firstDifference(result.outputs, outputs, tolerance) : 'did not fail';
    result.release();
    return differs;
  } catch (thrown) {
    if (!(thrown instanceof LibTensorFlowError) || !error) throw thrown;
    return thrown.tfCode === error.code && thrown.message.includes(error.message)
      ? undefined
      : `failed otherwise: ${thrown.tfCode} ${thrown.message}`;
  }
}

describe('every fixture model answers through the C API as Python TensorFlow does', () => {
  const models = fixtureModels();
  const loadable = models.filter(({ loadError }) => !loadError);
  const broken = models.filter(({ loadError }) => loadError);

  it.each(loadable)('$name/$version: $purpose', async (model) => {
    const session = await SavedModelSession.load(model.directory);
    try {
      for (const { signature, tolerance, cases } of loadGoldens(model)) {
        for (const golden of cases) {
          const where = `${signature}, ${golden.name}`;
          const differs = await difference(session, signature, golden, tolerance);
          expect([where, differs]).toEqual([where, undefined]);
        }
      }
    } finally {
      await session.close();
    }
  });

  it.each(broken)('$name/$version does not load: $loadError', async (model) => {
    await expect(SavedModelSession.load(model.directory)).rejects.toMatchObject({
      code: 'MODEL_LOAD_FAILED',
      message: expect.stringContaining(model.loadError ?? ''),
    });
  });
});
