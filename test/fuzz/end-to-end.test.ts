/** A few hundred inputs of `npm run fuzz -- --end-to-end`, and what clients send in no log. */

import type { RuntimeProcess } from '@sagemaker-tfs/container/testing';
import { encodeNpy, encodeNpz, numericTensor } from '@sagemaker-tfs/tensors';
import { BACKENDS, endToEnd, post, SECRET, startFuzzed } from './end-to-end.ts';
import { removeScratch } from './targets/scratch.ts';

afterAll(removeScratch);

test.each(BACKENDS)(
  'bodies of all kinds get an answer over %s, honest ones the right one',
  async (backend) => {
    const report = await endToEnd({ backend, inputs: 150, seed: 11 });
    expect(report.findings).toEqual([]);
    expect(report.honest).toBe(6);
    expect(report.statuses).toMatchObject({ 200: expect.any(Number), 400: expect.any(Number) });
  },
);

describe('what clients send', () => {
  let runtime: RuntimeProcess;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ runtime, stop } = await startFuzzed('grpc'));
  });
  afterAll(() => stop());

  test('is in no log', async () => {
    const zeros = numericTensor('float32', [1], new Float32Array(1));
    const bodies: [string, Uint8Array][] = [
      ['application/json', Buffer.from(`{"instances":["${SECRET}"]}`)],
      ['application/json', Buffer.from(`{"inputs":{"x":"${SECRET}"}}`)],
      ['application/json', Buffer.from(`{"instances": ${SECRET}}`)],
      ['text/csv', Buffer.from(SECRET)],
      ['application/x-npy', Buffer.concat([...encodeNpy(zeros), Buffer.from(SECRET)])],
      ['application/x-npz', Buffer.concat(encodeNpz({ [SECRET]: zeros }))],
      ['application/x-image', Buffer.from(SECRET)],
      ['application/octet-stream', Buffer.from(SECRET)],
    ];
    for (const [type, body] of bodies) {
      const { status } = await post(runtime, body, { 'Content-Type': type });
      expect([type, [400, 415].includes(status)]).toEqual([type, true]);
    }
    const { status } = await post(runtime, Buffer.from('{"instances":[4.0]}'), {
      'Content-Type': 'application/json',
      'X-Amzn-SageMaker-Inference-Id': 'i'.repeat(5_000),
    });
    expect([200, 400]).toContain(status);
    expect(runtime.output()).not.toContain(SECRET);
    expect(runtime.output()).not.toContain('i'.repeat(1_100));
  });
});
