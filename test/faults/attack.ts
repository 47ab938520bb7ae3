/** Clients of every hostile kind at once, while honest ones continue. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { disconnecting, pipelining, smuggling } from './client-faults.ts';
import { ask } from './clients.ts';
import type { Fault, Ground } from './ground.ts';
import type { Question } from './question.ts';
import type { Served } from './served.ts';

/** Hostile requests in flight. */
const ATTACKERS = 8;
/** Right answers at the end: nothing is left of the attack. */
const AFTER = 40;
/** How long it lasts, for each of the run's times, in ms. */
const LASTS_MS = 4_000;
/** Codes of 5xx with which a hostile request may be refused: load, not a defect. */
const LOAD = /"code":"(OVERLOADED|REQUEST_TIMEOUT|MODEL_NOT_READY|OUT_OF_RESOURCES)"/;

const CORPUS = resolve('test/fuzz/corpus');
const CODECS: Readonly<Record<string, readonly string[]>> = {
  json: ['application/json', 'application/jsonlines'],
  csv: ['text/csv'],
  npy: ['application/x-npy'],
  zip: ['application/x-npz'],
  jpeg: ['application/x-image', 'image/jpeg'],
  'tensor-proto': ['application/x-recordio-protobuf', 'application/x-tfrecord'],
};

type Hostile = Omit<Question, 'golden'>;

/**
 * Bodies that found defects once, pictures that are cut and changed, JSON of every wrong shape, attributes that lead
 * elsewhere, and wrong framing, beside the honest clients. A hostile request may get a 200 where it is a request after
 * all, or any 4xx; a 500, or no answer, counts as wrong.
 */
export const attack: Fault = {
  name: 'hostile requests of all kinds',
  keepsPing: true,
  happen: (ground) => attackWith(ground, hostileRequests(ground.questions)),
};

async function attackWith(ground: Ground, requests: readonly Hostile[]): Promise<void> {
  const { tally, times } = ground;
  const end = performance.now() + LASTS_MS * times;
  // Each at least once, however slow the machine is.
  const isOver = (at: number) => at >= requests.length && performance.now() > end;
  const attackers = Array.from({ length: ATTACKERS }, (_, index) =>
    attackUntil(ground, requests, index, isOver),
  );
  await Promise.all([...attackers, framing(ground, () => performance.now() > end)]);
  tally.fault();
  await tally.untilRight(AFTER);
}

async function attackUntil(
  { served, tally, questions }: Ground,
  all: readonly Hostile[],
  first: number,
  isOver: (at: number) => boolean,
): Promise<void> {
  for (let at = first; !isOver(at); at += ATTACKERS) {
    const request = at < all.length ? all[at] : changed(questions, at);
    if (!request) continue;
    const answer = await ask(served.url, request, false);
    const isLoad = 'text' in answer && LOAD.test(answer.text);
    if ('status' in answer && (answer.status < 500 || isLoad)) continue;
    tally.add('wrong', () => `${describe(request)} got ${JSON.stringify(answer)}`);
  }
}

/** To several models: also to one without a handler, which all codecs reach, and to the routes that change models. */
export const attackOnSeveral: Fault = {
  name: `${attack.name}, to several models`,
  keepsPing: true,
  async happen(ground) {
    const { served, basePath, questions } = ground;
    const plain = join(basePath, '..', '..', 'plain', 'model');
    await cp(basePath, plain, { recursive: true, filter: (path) => basename(path) !== 'code' });
    await changeModels(served, 'POST', '/models', { model_name: 'plain', url: plain });
    const open = [
      { ...jsonRequest('{"instances":[1]}'), path: '/models/plain/invoke' },
      ...MODEL_CHANGES.map((change) => ({ ...jsonRequest(change), path: '/models' })),
    ];
    await attackWith(ground, [...hostileRequests([...questions, ...open.slice(0, 1)]), ...open]);
    await changeModels(served, 'DELETE', '/models/plain');
  },
};

async function changeModels({ url }: Served, method: string, path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${method} ${path}: ${await response.text()}`);
}

/** The framing of other faults, with tallies of their own. */
async function framing(ground: Ground, isOver: () => boolean): Promise<void> {
  const once = { ...ground, times: 1 };
  while (!isOver()) {
    for (const { happen } of [smuggling, pipelining, disconnecting]) await happen(once);
    await sleep(50);
  }
}

/** Each once. */
function hostileRequests(questions: readonly Pick<Question, 'path'>[]): Hostile[] {
  const paths = [...new Set(questions.map(({ path }) => path))];
  const bodies = [...corpus(), ...JSON_BODIES.map(jsonRequest)];
  return paths.flatMap((path) => [
    ...bodies.map((request) => ({ ...request, path })),
    ...ATTRIBUTES.map((attributes) => ({
      path,
      contentType: 'application/json',
      headers: { 'X-Amzn-SageMaker-Custom-Attributes': attributes },
      body: Buffer.from('{"instances":[1]}'),
    })),
  ]);
}

function corpus(): Omit<Hostile, 'path'>[] {
  return Object.entries(CODECS).flatMap(([name, contentTypes]) => {
    const directory = join(CORPUS, name);
    return readdirSync(directory).flatMap((file) => {
      const body = readFileSync(join(directory, file));
      return contentTypes.map((contentType) => ({ contentType, body }));
    });
  });
}

function jsonRequest(body: string): Omit<Hostile, 'path'> {
  return { contentType: 'application/json', body: Buffer.from(body) };
}

const JSON_BODIES = [
  '{"instances":[1]}',
  '{"instances":[]}',
  '{"instances":{}}',
  '{"inputs":{"image":[]}}',
  '{"inputs":{"__proto__":[1],"constructor":[2]}}',
  '[[[[1]]]]',
  `${'['.repeat(200_000)}1${']'.repeat(200_000)}`,
  `{"instances":[${'9'.repeat(100_000)}]}`,
  `{"instances":[{"b64":"${'='.repeat(150_000)}"}]}`,
  '{"instances":[[[[1e999]]]]}',
  '{"signature_name":"../../x","instances":[1]}',
  '{"instances":["\\ud800"]}',
  '{"instances":[1],"instances":[2],"inputs":3}',
  '',
  'null',
];

const MODEL_CHANGES = [
  '{"model_name":"../x","url":"/etc"}',
  '{"model_name":"x","url":"/proc/self/root"}',
  '{"model_name":"x","url":"../../.."}',
  '{"model_name":"digits","url":"/tmp"}',
  '{"model_name":"__proto__","url":"/tmp"}',
  '{"model_name":5,"url":{}}',
  '[',
  `{"model_name":"${'x'.repeat(100_000)}","url":"/tmp"}`,
];

const ATTRIBUTES = [
  'tfs-model-name=../../../etc/passwd',
  'tfs-model-name=digits%2f..,tfs-model-version=-1',
  'tfs-model-version=99999999999999999999',
  'tfs-signature=__proto__',
  'tfs-outputs=,,,,constructor',
  'tfs-method=classify',
  'tfs-method=regress,tfs-transport=grpc',
  'tfs-transport=in-process',
  `tfs-signature=${'x'.repeat(4_000)}`,
];

/** An honest request with some bytes changed, or cut; the same for the same number. */
function changed(questions: readonly Question[], seed: number): Hostile | undefined {
  const question = questions[seed % questions.length];
  if (!question) return undefined;
  const random = createHash('sha256').update(String(seed)).digest();
  const { golden: _golden, ...request } = question;
  const body = Buffer.from(request.body);
  for (let at = 0; at < 4; at++) {
    const place = random.readUInt32LE(4 * at) % body.length;
    body[place] = random[16 + at] ?? 0;
  }
  const isCut = seed % 3 === 0;
  return {
    ...request,
    body: isCut ? body.subarray(0, random.readUInt32LE(24) % body.length) : body,
  };
}

function describe({ path, contentType, headers, body }: Hostile): string {
  const start = Buffer.from(body.subarray(0, 60)).toString('latin1');
  return `${path} ${contentType} ${JSON.stringify(headers ?? {})} ${JSON.stringify(start)}`;
}
