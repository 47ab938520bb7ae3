import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import files, {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeRecordIo, encodeTfRecord, readTfRecords } from '@sagemaker-tfs/tensors';
import { type ModelRoot, prepareModelRoot } from '../../serving/model-root.ts';
import { type RunningRuntime, startRuntime } from '../../serving/runtime-process.ts';
import {
  type Invocations,
  ROOT,
  type StubContainer,
  sagemakerTfs,
  startSagemakerTfs,
  startStub,
} from '../test-support.ts';
import { type LocalJob, runLocalJob } from './agent.ts';

const SAMPLES = join(ROOT, 'examples/digits/samples');

let work: string;
let input: string;
let output: string;
let stub: StubContainer | undefined;

beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'batch-local-'));
  input = join(work, 'in');
  output = join(work, 'out');
  await mkdir(input);
});

afterEach(async () => {
  await stub?.close();
  stub = undefined;
  await rm(work, { recursive: true, force: true });
});

/** Runs a job against a stub. */
async function job(answer: Invocations, options: Partial<LocalJob> = {}) {
  await stub?.close();
  stub = await startStub(answer);
  return runLocalJob({
    url: stub.url,
    inputDirectory: input,
    outputDirectory: output,
    contentType: 'text/plain',
    ...options,
  });
}

const echo: Invocations = (body) => `<${body}>`;

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !['.origin.json', '.inputs'].includes(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

const put = (key: string, body: string | Uint8Array) => writeFile(join(input, key), body);
const got = (key: string) => readFile(join(output, `${key}.out`), 'utf8');

describe('one request an object', () => {
  test('keys keep their folders, spaces, signs and letters of any script', async () => {
    const keys = ['a b+c.txt', 'Grüße – 東京.txt', 'x/y/z.txt', "100% 'q'.txt", '%2B.txt'];
    await mkdir(join(input, 'x/y'), { recursive: true });
    for (const key of keys) await put(key, key);
    const result = await job(echo);
    expect(result).toMatchObject({ done: 5, failed: 0, inputs: 5, missing: 0 });
    for (const key of keys) expect(await got(key)).toBe(`<${key}>`);
    expect(await filesBelow(output)).toHaveLength(5);
  });

  test('links within the folder are inputs; others are listed with where they lead, unread', async () => {
    await writeFile(join(work, 'elsewhere'), 'far');
    await put('near', 'near');
    await mkdir(join(input, 'sub'));
    await symlink('../near', join(input, 'sub/link'));
    await symlink('.', join(input, 'loop'));
    await symlink(join(work, 'elsewhere'), join(input, 'out'));
    await symlink(join(work, 'nothing'), join(input, 'broken'));
    await symlink('self', join(input, 'self'));
    const result = await job(echo);
    expect(result).toMatchObject({ done: 2, failed: 3, missing: 3 });
    expect(await got('sub/link')).toBe('<near>');
    const reasons = Object.fromEntries(result.failures.map(({ key, message }) => [key, message]));
    const real = await realpath(join(work, 'elsewhere'));
    expect(reasons).toEqual({
      broken: expect.stringContaining('ENOENT'),
      out: `cannot read it: a link leads out of ${input}, to ${real}. Read such files with --follow-links.`,
      self: expect.stringContaining('ELOOP'),
    });
    expect(await job(echo, { followLinks: true })).toMatchObject({ done: 1, failed: 2 });
    expect(await got('out')).toBe('<far>');
  });

  test('a pipe, and a link to a device, are listed as what they are, unread', async () => {
    await put('good', 'good');
    execFileSync('mkfifo', [join(input, 'pipe')]);
    await symlink('/dev/zero', join(input, 'zero'));
    const { done, failed, failures } = await job(echo, { followLinks: true });
    expect({ done, failed }).toEqual({ done: 1, failed: 2 });
    expect(failures.map(({ key, message }) => [key, message]).sort()).toEqual(
      ['pipe', 'zero'].map((key) => [key, expect.stringContaining('a pipe or a device')]),
    );
  });

  test('a manifest reaches no file through a folder that is a link, and opens no pipe', async () => {
    await mkdir(join(work, 'other'));
    await writeFile(join(work, 'other/file'), 'far');
    await symlink(join(work, 'other'), join(input, 'other'));
    execFileSync('mkfifo', [join(input, 'pipe')]);
    const manifest = join(work, 'some.manifest');
    await writeFile(manifest, '[{"prefix":"s3://bucket/in/"},"other/file","pipe"]');
    for (const splitType of ['None', 'Line'] as const) {
      const { failed, failures } = await job(echo, { manifest, splitType });
      expect(failed).toBe(2);
      expect(failures.map(({ message }) => message).sort()).toEqual([
        expect.stringContaining('a link leads out of'),
        expect.stringContaining('a pipe or a device'),
      ]);
      expect(stub?.bodies).toEqual([]);
    }
  });

  test('a name that is not UTF-8 is refused before anything is sent; one with U+FFFD is not', async () => {
    await put('\ufffd.txt', 'x');
    expect(await job(echo)).toMatchObject({ done: 1 });
    await writeFile(Buffer.concat([Buffer.from(`${input}/`), Buffer.of(0xe9, 0x2e, 0x74)]), 'x');
    await expect(job(echo, { existing: 'replace' })).rejects.toMatchObject({
      code: 'USAGE',
      message: `${input}/é.t: the name is not UTF-8 (shown as Latin-1). Rename the file.`,
    });
    expect(stub?.bodies).toEqual([]);
  });

  test('429, 503 and a cut connection are tried again; 400 and 501 are not', async () => {
    for (const key of ['429', '503', 'cut', 'half', '400', '501']) await put(key, key);
    const tries = new Map<string, number>();
    const result = await job((body, response) => {
      const key = body.toString();
      tries.set(key, (tries.get(key) ?? 0) + 1);
      if (key === '400') return void response.writeHead(400).end('{"error":"not an image"}');
      if (key === '501') return void response.writeHead(501).end('{"error":"no such thing"}');
      if ((tries.get(key) ?? 0) > 2) return 'answer';
      if (key === 'cut') return void response.destroy();
      if (key === 'half') {
        response.writeHead(200, { 'content-length': 1000 }).write('half');
        setTimeout(() => response.destroy(), 10);
        return undefined;
      }
      return void response.writeHead(Number(key)).end();
    });
    expect(result).toMatchObject({ done: 4, failed: 2, missing: 2 });
    // In the order of the answers, which is not the order of the keys.
    expect(result.failures).toHaveLength(2);
    expect(result.failures).toEqual(
      expect.arrayContaining([
        { key: '400', status: 400, message: 'not an image' },
        { key: '501', status: 501, message: 'no such thing' },
      ]),
    );
    expect(await got('half')).toBe('answer');
    expect(Object.fromEntries(tries)).toEqual({ 400: 1, 501: 1, 429: 3, 503: 3, cut: 3, half: 3 });
  });

  test('an answer that does not come in time is a failure of that input', async () => {
    await put('slow', 'slow');
    await put('fast', 'fast');
    const result = await job((body) => (`${body}` === 'slow' ? undefined : 'answer'), {
      timeoutSeconds: 1,
      maxRetries: 0,
    });
    expect(result).toMatchObject({ done: 1, failures: [{ key: 'slow', status: undefined }] });
  });

  test('no more requests are in flight than the container asked for', async () => {
    for (let i = 0; i < 20; i++) await put(String(i), 'x');
    let inFlight = 0;
    let most = 0;
    let open: () => void = () => undefined;
    const allCame = new Promise<void>((resolve) => {
      open = resolve;
    });
    await job(async () => {
      most = Math.max(most, ++inFlight);
      if (inFlight === 4) open();
      await allCame;
      await sleep(5);
      inFlight--;
      return '';
    });
    expect(most).toBe(4);
  });

  test('inputs over the payload limit are listed, with and without the limit of the container', async () => {
    await put('large', Buffer.alloc(1024 * 1024 + 1));
    expect((await job(echo)).failures).toEqual([
      { key: 'large', status: undefined, message: '1048577 bytes are over MaxPayloadInMB (1)' },
    ]);
    expect(await job(echo, { maxPayloadInMB: 0 })).toMatchObject({ done: 1, failed: 0 });
  });

  test('the runtime going away ends the job and blames no input', async () => {
    for (let i = 0; i < 30; i++) await put(String(i), 'x');
    let served = 0;
    const ended = job(
      (_body, response) => {
        if (++served < 5) return 'answer';
        response.destroy();
        void stub?.close();
        return undefined;
      },
      { maxRetries: 1 },
    );
    await expect(ended).rejects.toMatchObject({ code: 'RUNTIME_LOST' });
    stub = undefined;
    expect((await filesBelow(output)).every((name) => name.endsWith('.out'))).toBe(true);
  }, 30_000);

  test('a name that the output folder cannot have is listed, the rest is done', async () => {
    const long = 'n'.repeat(253);
    await put(long, 'x');
    await put('a', 'x');
    await mkdir(join(output, 'a.out'), { recursive: true });
    await put('b', 'x');
    const result = await job(echo);
    expect(result.done).toBe(1);
    expect(result.failures.map(({ key }) => key).sort()).toEqual(['a', long]);
  });

  test('a second job into the same folder is refused while the first works, whatever its settings', async () => {
    for (let i = 0; i < 20; i++) await put(String(i), 'x');
    let [arrived, answer]: [() => void, () => void] = [() => undefined, () => undefined];
    const first = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const free = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const running = job(async () => {
      arrived();
      await free;
      return 'first';
    });
    await first;
    // What another process would find.
    const lock = join(output, '.lock.json');
    const holder = JSON.parse(await readFile(lock, 'utf8'));
    await writeFile(lock, JSON.stringify({ ...holder, pid: process.ppid }));
    const url = stub?.url ?? '';
    const second = runLocalJob({
      url,
      inputDirectory: input,
      outputDirectory: output,
      contentType: 'text/csv',
    });
    await expect(second).rejects.toMatchObject({ code: 'OUTPUTS_IN_USE' });
    answer();
    expect(await running).toMatchObject({ done: 20 });
    expect(await filesBelow(output)).toHaveLength(20);
  });

  test('a folder whose file system has no hard links is taken as well', async () => {
    const refused = Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
    const link = jest.spyOn(files, 'link').mockRejectedValue(refused);
    try {
      await put('a', 'x');
      expect(await job(echo)).toMatchObject({ done: 1 });
      expect(link).toHaveBeenCalled();
      const lock = { id: 'a', pid: process.ppid, host: hostname() };
      await writeFile(join(output, '.lock.json'), JSON.stringify(lock));
      await expect(job(echo)).rejects.toMatchObject({ code: 'OUTPUTS_IN_USE' });
    } finally {
      link.mockRestore();
    }
  });

  test('the folder of a job that was killed is taken over', async () => {
    await put('a', 'x');
    await mkdir(output, { recursive: true });
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    await writeFile(
      join(output, '.lock.json'),
      JSON.stringify({ id: 'a', pid: gone, host: hostname() }),
    );
    expect(await job(echo)).toMatchObject({ done: 1 });
    await writeFile(
      join(output, '.lock.json'),
      JSON.stringify({ id: 'a', pid: 1, host: 'elsewhere' }),
    );
    await expect(job(echo)).rejects.toMatchObject({ code: 'OUTPUTS_IN_USE' });
    const before = new Date(Date.now() - 120_000);
    await utimes(join(output, '.lock.json'), before, before);
    expect(await job(echo)).toMatchObject({ skipped: 1 });
    expect(await filesBelow(output)).toEqual(['a.out']);
  });

  test('an interrupted job leaves nothing half-written', async () => {
    for (let i = 0; i < 50; i++) await put(String(i), 'x');
    const abort = new AbortController();
    const ended = job(
      async () => {
        await sleep(5);
        if ((stub?.bodies.length ?? 0) >= 20) abort.abort(new Error('enough'));
        return 'answer';
      },
      { signal: abort.signal },
    );
    await expect(ended).rejects.toThrow('enough');
    const left = await filesBelow(output);
    expect(left.length).toBeLessThan(30);
    for (const name of left) expect(await readFile(join(output, name), 'utf8')).toBe('answer');
    expect(await job(echo)).toMatchObject({ skipped: left.length, done: 50 - left.length });
  });
});

describe('records', () => {
  test('lines: one a request, their answers in order with a newline after each', async () => {
    await put('a.csv', 'one\ntwo\n\nthree');
    await put('empty.csv', '');
    const slowFirst: Invocations = async (body) => {
      if (`${body}` === 'one') await sleep(50);
      return `<${body}>`;
    };
    const cut = { splitType: 'Line', batchStrategy: 'SingleRecord' } as const;
    expect(await job(slowFirst, cut)).toMatchObject({ done: 2 });
    expect(await got('a.csv')).toBe('<one>\n<two>\n<three>\n');
    expect(await got('empty.csv')).toBe('');
    await rm(output, { recursive: true });
    await job(slowFirst, { ...cut, assembleWith: 'None' });
    expect(await got('a.csv')).toBe('<one><two><three>');
    await rm(output, { recursive: true });
    await job(slowFirst, { ...cut, accept: 'application/x-npy' });
    expect(await got('a.csv')).toBe('<one><two><three>');
  });

  test('MultiRecord packs whole records up to the payload limit', async () => {
    const line = 'x'.repeat(99_999);
    await put('big', `${line}\n`.repeat(25));
    await job((body) => String(body.byteLength), {
      splitType: 'Line',
      batchStrategy: 'MultiRecord',
      assembleWith: 'Line',
    });
    expect(await got('big')).toBe('1000000\n1000000\n500000\n');
  });

  test('RecordIO and TFRecord: bare records singly, framed ones together', async () => {
    const records = [Buffer.from('first'), Buffer.from(''), Buffer.from('third one')];
    const tf = Buffer.concat(records.flatMap(encodeTfRecord));
    const rec = Buffer.concat(records.flatMap(encodeRecordIo));
    for (const [splitType, bytes] of [
      ['TFRecord', tf],
      ['RecordIO', rec],
    ] as const) {
      await rm(output, { recursive: true, force: true });
      await put('shard', bytes);
      const singly = {
        splitType,
        batchStrategy: 'SingleRecord',
        maxConcurrentTransforms: 1,
      } as const;
      await job(echo, { ...singly, assembleWith: 'None' });
      expect(stub?.bodies).toEqual(records);
      expect(await got('shard')).toBe('<first><><third one>');
      await rm(output, { recursive: true });
      await job(echo, { splitType, batchStrategy: 'MultiRecord' });
      expect(stub?.bodies).toEqual([bytes]);
    }
    expect([...readTfRecords(tf)]).toHaveLength(3);
  });

  test('half a million empty records are packed in a heap of 100 MB', async () => {
    const bytes = Buffer.concat(Array(500_000).fill(Buffer.concat(encodeRecordIo(Buffer.of()))));
    await put('empty.rec', bytes);
    stub = await startStub(() => 'yes', { MaxPayloadInMB: 100 });
    const { exitCode, stderr } = await sagemakerTfs(
      [
        ...['batch', 'local', input, '--out', output, '--url', stub.url],
        ...['--split-type', 'RecordIO', '--batch-strategy', 'MultiRecord'],
        ...['--content-type', 'application/x-recordio'],
      ],
      { NODE_OPTIONS: '--max-old-space-size=100' },
    );
    expect([exitCode, stderr.includes('heap')]).toEqual([0, false]);
    expect(stub.bodies.map((body) => body.equals(bytes))).toEqual([true]);
  });

  test('empty lines are no records, wherever a chunk of the file ends', async () => {
    await put('lines', `${'\n'.repeat(300_000)}a${'\n'.repeat(300_000)}b\n\nc\r\n\r\n\r`);
    await job(echo, { splitType: 'Line', batchStrategy: 'MultiRecord' });
    expect(stub?.bodies.map(String)).toEqual(['a\nb\nc\r\n']);
  });

  test('a shard that ends early, or with records that fail, has no output and says which', async () => {
    const records = ['good', 'bad', 'good', 'bad'].map((text) => Buffer.from(text));
    const whole = Buffer.concat(records.flatMap(encodeTfRecord));
    await put('whole', whole);
    await put('cut', whole.subarray(0, whole.byteLength - 2));
    const result = await job(
      (body, response) =>
        `${body}` === 'bad' ? void response.writeHead(400).end('no image') : 'yes',
      { splitType: 'TFRecord', batchStrategy: 'SingleRecord' },
    );
    const reasons = new Map(result.failures.map(({ key, message }) => [key, message]));
    expect(reasons.get('whole')).toBe('record 1, 3 (from 0): no image');
    expect(reasons.get('cut')).toMatch(/^cannot be split: TFRecord record 3 at byte .*ends within/);
    expect(await filesBelow(output)).toEqual(['redrive-reasons.json', 'redrive.manifest']);
  });

  test('a request of many records that fails names all of them, and where its own numbers begin', async () => {
    const line = 'x'.repeat(99_999);
    await put('first', `bad\n${`${line}\n`.repeat(25)}`);
    await put('later', `${`${line}\n`.repeat(12)}bad\n${`${line}\n`.repeat(12)}bad`);
    const result = await job(
      (body, response) =>
        body.includes('bad') ? void response.writeHead(400).end('no number. Index: 2') : 'yes',
      { splitType: 'Line', batchStrategy: 'MultiRecord' },
    );
    const reasons = new Map(result.failures.map(({ key, message }) => [key, message]));
    expect(reasons.get('first')).toBe('records 0 to 10 (from 0): no number. Index: 2');
    expect(reasons.get('later')).toBe(
      'records 10 to 20, 21 to 25 (from 0; numbers in the reason begin at record 10): no number. Index: 2',
    );
  });
});

describe('manifests', () => {
  const manifest = (...items: unknown[]) =>
    writeFile(join(work, 'list.manifest'), JSON.stringify(items));
  const prefix = 's3://tiles/2024/';

  test('keys are done once however often they are named; one without a file is listed', async () => {
    await put('a', 'a');
    await put('b', 'b');
    await manifest({ prefix }, 'a', 'gone', 'a');
    const result = await job(echo, { manifest: join(work, 'list.manifest') });
    expect(result).toMatchObject({ inputs: 2, done: 1, missing: 1, duplicates: ['a'] });
    expect(await filesBelow(output)).toEqual(['a.out', 'redrive-reasons.json', 'redrive.manifest']);
    const redrive = join(output, 'redrive.manifest');
    expect(JSON.parse(await readFile(redrive, 'utf8'))).toEqual([{ prefix }, 'gone']);
    await put('gone', 'back');
    const second = await job(echo, { manifest: redrive });
    expect(second).toMatchObject({ inputs: 1, done: 1, missing: 0 });
    expect(await filesBelow(output)).toEqual(['a.out', 'gone.out']);
  });

  test.each([
    ['a key that leads out of the folder', [{ prefix }, '../../etc/passwd'], 'UNSAFE_PATH'],
    ['no prefix', ['a'], 'MANIFEST_INVALID'],
    ['keys that are no text', [{ prefix }, 1], 'MANIFEST_INVALID'],
  ])('%s is refused before anything is done', async (_, items, code) => {
    await put('a', 'a');
    await manifest(...items);
    await expect(job(echo, { manifest: join(work, 'list.manifest') })).rejects.toMatchObject({
      code,
    });
    expect(stub?.bodies).toEqual([]);
  });
});

describe('with the serving runtime', () => {
  let model: ModelRoot;
  let runtime: RunningRuntime;
  beforeAll(async () => {
    const digits = join(ROOT, 'examples/digits');
    model = await prepareModelRoot(join(digits, 'model'), join(digits, 'inference.ts'));
    runtime = await startRuntime({
      modelDirectory: model.directory,
      environment: { SAGEMAKER_BATCH: 'true', SAGEMAKER_TFS_LOG_LEVEL: 'warn' },
      log: '/dev/null',
    });
  });
  afterAll(async () => {
    await runtime?.stop();
    await model?.cleanUp();
  });

  const command = (...more: string[]) => [
    ...['batch', 'local', input, '--out', output, '--url', runtime.url],
    ...more,
  ];

  test('pictures that cannot be read are listed; the job does the others and exits with 1', async () => {
    await cp(SAMPLES, input, { recursive: true });
    await put('broken.jpg', 'no picture at all');
    await put('empty.jpg', '');
    const seven = await readFile(join(SAMPLES, '00000-7.jpg'));
    await put('cut.jpg', seven.subarray(0, 40));
    const { exitCode, stdout } = await sagemakerTfs(command('--json'));
    expect(exitCode).toBe(1);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ code: 'BATCH_INCOMPLETE', done: 100, failed: 3, missing: 3 });
    const failed = result.failures.map(({ key }: { key: string }) => key).sort();
    expect(failed).toEqual(['broken.jpg', 'cut.jpg', 'empty.jpg']);
    const redrive = JSON.parse(await readFile(result.redriveManifest, 'utf8'));
    expect(redrive.slice(1).sort()).toEqual(failed);
    expect(JSON.parse(await got('00000-7.jpg')).predictions[0].digit).toBe(7);

    for (const key of failed) await put(key, seven);
    const second = await sagemakerTfs(command('--manifest', result.redriveManifest));
    expect(second).toMatchObject({ exitCode: 0 });
    expect(second.stdout).toContain('3 of 3 inputs have an output');
  });

  test('killed at any moment: outputs are whole, and the next run does the rest', async () => {
    for (let i = 0; i < 7; i++) await cp(SAMPLES, join(input, String(i)), { recursive: true });
    const total = (await filesBelow(input)).length;
    for (const enough of [1, 300]) {
      const child = startSagemakerTfs(command('--max-concurrent-transforms', '8'));
      const outputs = async () =>
        (await filesBelow(output).catch(() => [])).filter((name) => name.endsWith('.out')).length;
      while ((await outputs()) < enough && child.exitCode === null) await sleep(5);
      child.kill('SIGKILL');
      await once(child, 'exit');
      for (const name of await filesBelow(output)) {
        if (!name.endsWith('.out')) continue;
        const { predictions } = JSON.parse(await readFile(join(output, name), 'utf8'));
        expect(predictions).toHaveLength(1);
      }
    }
    const { exitCode, stdout } = await sagemakerTfs(command('--json'));
    expect(exitCode).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ inputs: total, missing: 0, failed: 0 });
    expect(result.skipped).toBeGreaterThanOrEqual(300);
    expect(await filesBelow(output)).toEqual(
      (await filesBelow(input)).map((name) => `${name}.out`),
    );
    expect(await readdir(output)).not.toContain('.partial');
  });

  test('an empty folder, and outputs among the inputs, are refused', async () => {
    const empty = await sagemakerTfs(command());
    expect(empty.exitCode).toBe(2);
    expect(empty.stderr).toContain('holds no files');
    await put('a', 'a');
    const same = await sagemakerTfs([
      ...['batch', 'local', input, '--out', input],
      ...['--url', runtime.url],
    ]);
    expect(same.exitCode).toBe(2);
    expect(same.stderr).toContain('Give --out another folder');
  });
});

test('a disk that takes no more ends the job at once with the reason', async () => {
  for (let i = 0; i < 40; i++) await put(String(i), 'x');
  stub = await startStub(() => Buffer.alloc(4_000_000));
  const command = `ulimit -f 4000; exec "${process.execPath}" cli/bin/sagemaker-tfs.js batch local "${input}" --out "${output}" --url ${stub.url} --content-type text/plain --json`;
  const { status, stdout } = await run('/bin/sh', ['-c', command]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    code: 'OUTPUT_FAILED',
    error: expect.stringContaining('EFBIG'),
  });
  expect(stub.bodies.length).toBeLessThan(20);
  expect(await filesBelow(output)).toEqual([]);
});

async function run(program: string, args: readonly string[]) {
  const { execFile } = await import('node:child_process');
  return new Promise<{ status: number; stdout: string }>((resolve) => {
    execFile(program, [...args], { cwd: ROOT }, (error, stdout) =>
      resolve({ status: error ? Number(error.code) : 0, stdout }),
    );
  });
}

describe('outputs that are there already', () => {
  const put = (name: string, text: string) => writeFile(join(input, name), text);
  const past = new Date(Date.now() - 86_400_000);

  beforeEach(async () => {
    for (const name of ['a', 'b', 'c']) await put(name, name);
    for (const name of ['a', 'b', 'c']) await utimes(join(input, name), past, past);
  });

  test('count where model and settings are the same', async () => {
    expect(await job(echo, { model: '1' })).toMatchObject({ done: 3 });
    expect(await job(echo, { model: '1' })).toMatchObject({ done: 0, skipped: 3, missing: 0 });
  });

  test.each<[string, Partial<LocalJob>]>([
    ['model', { model: '2' }],
    ['Accept', { accept: 'text/csv' }],
    ['Content-Type', { contentType: 'text/csv' }],
    ['custom attributes', { customAttributes: 'tfs-model-name=b' }],
  ])('are made again by another %s', async (_, options) => {
    await job(echo, { model: '1' });
    expect(await job(() => 'new', { model: '1', ...options })).toMatchObject({ done: 3 });
    expect(await readFile(join(output, 'a.out'), 'utf8')).toBe('new');
  });

  test('are made again where the input is newer', async () => {
    await job(echo);
    await put('b', 'new');
    await utimes(join(input, 'c'), new Date(), new Date());
    expect(await job(echo)).toMatchObject({ done: 1, skipped: 2 });
  });

  describe.each(['None', 'Line'] as const)('with --split-type %s', (splitType) => {
    const again = (options: Partial<LocalJob> = {}) =>
      job(echo, { splitType, batchStrategy: 'SingleRecord', assembleWith: 'None', ...options });
    const older = new Date(Date.now() - 9 * 86_400_000);

    test('are made again where the input was replaced by one with an older time', async () => {
      await again();
      await writeFile(join(work, 'moved'), 'z');
      await utimes(join(work, 'moved'), past, past);
      // The same size and time; an older time; another size.
      await files.rename(join(work, 'moved'), join(input, 'a'));
      await put('b', 'y');
      await utimes(join(input, 'b'), older, older);
      await put('c', 'long');
      await utimes(join(input, 'c'), older, older);
      expect(await again()).toMatchObject({ done: 3, skipped: 0, missing: 0 });
      expect(await Promise.all(['a', 'b', 'c'].map(got))).toEqual(['<z>', '<y>', '<long>']);
      expect(await again()).toMatchObject({ done: 0, skipped: 3 });
    });

    test('count though the input has a time in the future', async () => {
      const future = new Date(Date.now() + 86_400_000);
      await utimes(join(input, 'a'), future, future);
      expect(await again()).toMatchObject({ done: 3, missing: 0 });
      expect(await again()).toMatchObject({ done: 0, skipped: 3, missing: 0 });
    });

    test('count in a copy of all folders, whatever its times, and after a look at the contents', async () => {
      await again();
      await files.rename(input, join(work, 'before'));
      // Inputs come last: they are newer than all outputs.
      await cp(join(work, 'before'), input, { recursive: true });
      expect(await again()).toMatchObject({ done: 0, skipped: 3, missing: 0 });
    });
  });

  test('of a job that was killed, or of an earlier version, count by their times', async () => {
    await job(echo);
    const inputs = join(output, '.inputs');
    const whole = await readFile(inputs);
    const records = (whole.byteLength - 32) / 32;
    expect(records).toBe(3);
    const cut = whole.subarray(0, -5);
    const zeros = Buffer.concat([whole.subarray(0, 32), Buffer.alloc(64), whole.subarray(96)]);
    for (const left of [cut, zeros, Buffer.from('other'), Buffer.alloc(0), undefined]) {
      await (left ? writeFile(inputs, left) : rm(inputs));
      expect(await job(echo)).toMatchObject({ done: 0, skipped: 3 });
      await put('b', 'b');
      await put('b', 'B');
      expect(await job(echo)).toMatchObject({ done: 1, skipped: 2 });
      await put('b', 'y');
      await utimes(join(input, 'b'), past, past);
      expect(await job(echo)).toMatchObject({ done: 1, skipped: 2 });
    }
  });

  test('are incomplete as long as another model has not answered', async () => {
    await job(echo, { model: '1' });
    const refuse: Invocations = (body, response) => {
      if (String(body) !== 'b') return 'new';
      response.writeHead(400).end('no');
      return undefined;
    };
    expect(await job(refuse, { model: '2' })).toMatchObject({ done: 2, failed: 1, missing: 1 });
  });

  test('all count with skip, and none with replace', async () => {
    await job(echo, { model: '1' });
    expect(await job(echo, { model: '2', existing: 'skip' })).toMatchObject({ skipped: 3 });
    // What was skipped is no job's own.
    expect(await job(echo, { model: '1' })).toMatchObject({ done: 3 });
    expect(await job(echo, { model: '1', existing: 'replace' })).toMatchObject({ done: 3 });
  });
});

test('a model that fails ends the job before it has walked through all inputs', async () => {
  for (let at = 0; at < 400; at++) await writeFile(join(input, `${at}`), 'x');
  const fail: Invocations = (_, response) => {
    response.writeHead(400).end('broken');
    return undefined;
  };
  await expect(job(fail)).rejects.toMatchObject({
    code: 'TOO_MANY_FAILURES',
    message: expect.stringMatching(/^200 of the first 200 inputs failed.*broken/),
  });
  expect(await job(fail, { maxFailurePercent: 100 })).toMatchObject({ failed: 400 });
});
