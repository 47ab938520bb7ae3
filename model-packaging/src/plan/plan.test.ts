/** What a plan refuses because the runtime would. */
import { useScratch, withCode } from '../testing/scratch.ts';
import { makePlan } from './plan.ts';

const scratch = useScratch();

test('a manifest that is longer than the runtime parses is refused', async () => {
  const directory = scratch.model('strings', 'model/1');
  const model = { name: 'model', versions: [{ version: '1', directory }] };
  const code = Array.from({ length: 400 }, (_, index) => ({
    path: `code/${'long/'.repeat(800)}${index}`,
    content: { bytes: new Uint8Array(0) },
    size: 0,
  }));
  const options = { onBytes: () => {}, onTotal: () => {} };
  const few = await makePlan({ models: [model], code: code.slice(200) }, options);
  expect(few.files.length).toBeGreaterThan(200);
  const many = makePlan({ models: [model], code }, options);
  await expect(many).rejects.toThrow(withCode('BAD_OPTION'));
  await expect(many).rejects.toThrow(/the manifest has \d+ bytes. 1048576 are the most/);
});
