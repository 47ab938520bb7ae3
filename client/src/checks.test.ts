/** Calls as JavaScript makes them: nothing is sent, and the error names the option. */
import { predict, predictAsync, predictStream } from './index.ts';

const url = { url: 'http://127.0.0.1:9' };
const bytes = new Uint8Array(1);
const async = { contentType: 'image/jpeg' };

/** Types are of no use to these callers. */
type Loose = (...values: unknown[]) => Promise<unknown>;
const [ask, stream, queue] = [predict, predictStream, predictAsync] as unknown as [
  Loose,
  Loose,
  Loose,
];

test.each<[string, () => Promise<unknown>, RegExp]>([
  [
    'an object as the body',
    () => ask(url, { instances: [1] }),
    /body is an object.*jsonBody\(value\)/,
  ],
  ['a list as the body', () => ask(url, [1]), /body is an array.*jsonBody/],
  ['a number as the body', () => ask(url, 1), /body is a number/],
  ['no body', () => ask(url, undefined), /body is undefined/],
  ['a body of null', () => ask(url, null), /body is null/],
  ['a body to stream', () => stream(url, { inputs: [1] }), /jsonBody/],
  ['bytes without a type', () => ask(url, { bytes }), /contentType of the body is undefined/],
  ['an empty target', () => ask({}, '{}'), /endpointName of the target is undefined.*\{ url \}/],
  ['no target', () => ask(undefined, '{}'), /target is undefined. .*endpointName/],
  ['a target of null', () => ask(null, '{}'), /target is null. .*endpointName/],
  ['a URL as the target', () => ask('http://127.0.0.1:9', '{}'), /target is a string. .*\{ url \}/],
  [
    'a url of undefined',
    () => ask({ url: undefined }, '{}'),
    /"undefined" is not an http or https URL/,
  ],
  ['an endpoint without a name', () => ask({ endpointName: '' }, '{}'), /endpointName .* is empty/],
  ['an endpoint of a number', () => ask({ endpointName: 7 }, '{}'), /endpointName .* is a number/],
  ['retries below 0', () => ask(url, '{}', { retries: -1 }), /retries is -1/],
  ['half a retry', () => ask(url, '{}', { retries: 0.5 }), /retries is 0.5/],
  ['no number of retries', () => ask(url, '{}', { retries: Number.NaN }), /retries is NaN/],
  ['no time', () => ask(url, '{}', { timeoutSeconds: 0 }), /timeoutSeconds is 0/],
  ['negative time', () => ask(url, '{}', { timeoutSeconds: -1 }), /timeoutSeconds is -1/],
  ['more time than timers have', () => ask(url, '{}', { timeoutSeconds: 1e9 }), /at most 2147483/],
  ['negative waking', () => ask(url, '{}', { wakeSeconds: -1 }), /wakeSeconds is -1/],
  [
    'an async target',
    () => queue({}, 's3://b/k', async),
    /endpointName of the target is undefined/,
  ],
  ['an async target of null', () => queue(null, 's3://b/k', async), /target is null/],
  [
    'an async request',
    () => queue({ endpointName: 'e' }, undefined, async),
    /neither text nor bytes/,
  ],
  [
    'async retries',
    () => queue({ endpointName: 'e' }, 's3://b/k', { ...async, retries: -1 }),
    /retries is -1/,
  ],
])('%s', async (_what, call, message) => {
  await expect(call()).rejects.toMatchObject({
    name: 'PredictionError',
    code: 'BAD_OPTION',
    message: expect.stringMatching(message),
  });
});
