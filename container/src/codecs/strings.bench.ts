/**
 * How long a million strings in JSON keep the event loop, step by step: `npx tsx container/src/codecs/strings.bench.ts`.
 * `/ping` waits for the longest of these.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { encodePredictRequest } from '@sagemaker-tfs/tensors';
import { checkCall } from '../inference/check-call.ts';
import { decodeRequest } from './registry.ts';
import { decodeContext, signatureOf } from './test-signatures.ts';

const COUNT = 1_000_000;
const signature = signatureOf({ s: ['string', [-1]] });
const words = Array.from({ length: COUNT }, (_, index) => `word ${index}`);
const body = Buffer.from(JSON.stringify({ instances: words }));
words.length = 0;

/** Returns what a step returns; prints the longest stall and the whole time. */
async function measured<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  await delay(300);
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await delay(20);
  const start = performance.now();
  const result = await work();
  const whole = performance.now() - start;
  await delay(20);
  histogram.disable();
  const ms = (value: number) => `${value.toFixed(0).padStart(6)} ms`;
  console.log(`${name.padEnd(28)} longest stall ${ms(histogram.max / 1e6)}, whole ${ms(whole)}`);
  return result;
}

for (const round of [1, 2, 3]) {
  console.log(`round ${round}: ${COUNT} strings, ${body.length} bytes`);
  const { inputs } = await measured('decode', () =>
    decodeRequest(body, decodeContext(signature, 'application/json')),
  );
  await measured('check', () => checkCall(signature, inputs));
  await measured('encode for the model server', () =>
    encodePredictRequest({ model: { name: 'm' }, signature: '', inputs }),
  );
}
process.exit(0);
