import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { packageModel } from '../package-model.ts';
import { useScratch, withCode } from '../testing/scratch.ts';

const scratch = useScratch();
const HANDLER = 'export async function handler(data) { return data; }\n';

/** Packages `source` to `model.tar.gz` of the scratch folder. */
const pack = (source: string) => packageModel({ source, out: scratch.path('model.tar.gz') });

describe('bad input is refused, naming the path', () => {
  const expectRefused = async (code: string, source: string, named: string) => {
    const error: unknown = await pack(source).catch((thrown: unknown) => thrown);
    expect(error).toEqual(withCode(code));
    expect((error as Error).message).toContain(named);
    expect(existsSync(scratch.path('model.tar.gz'))).toBe(false);
  };

  test('nothing there', () =>
    expectRefused('SOURCE_NOT_FOUND', scratch.path('x'), scratch.path('x')));

  test('no SavedModel', async () => {
    const model = scratch.path('model');
    scratch.write('model/1/weights.bin', 'x');
    await expectRefused('NOT_A_SAVED_MODEL', model, `${model} holds no SavedModel: no saved_model`);
  });

  test.each([
    ['export/1/variables/variables.index', "export/1 (has 'variables', but no saved_model.pb"],
    ['old/digits.keras', 'old/digits.keras (give this file if it is the model)'],
    ['old/digits.tflite', 'old/digits.tflite (not a SavedModel'],
    [`${'deep/'.repeat(17)}saved_model.pb`, `${'deep/'.repeat(16)}deep (too deep`],
    ['1/saved_model.cpb', '1/saved_model.cpb is a SavedModel in chunks'],
  ])('no SavedModel, but %s', async (file, told) => {
    scratch.write(`model/notes.txt`, 'x');
    scratch.write(`model/${file}`, 'x');
    await expectRefused('NOT_A_SAVED_MODEL', scratch.path('model'), scratch.path('model', told));
  });

  test('a version without a model beside one that has it', async () => {
    scratch.model('strings', 'model/1');
    scratch.write('model/2/weights.bin', 'x');
    await expectRefused('NOT_A_SAVED_MODEL', scratch.path('model'), scratch.path('model/2'));
  });

  test('a text format SavedModel', async () => {
    const file = scratch.write('model/1/saved_model.pbtxt', 'saved_model_schema_version: 1');
    await expectRefused('TEXT_FORMAT', scratch.path('model'), file);
  });

  test.each(['v1', '1a', '-1', '1.0'])('a version directory named %s', async (name) => {
    const version = scratch.model('strings', `model/${name}`);
    await expectRefused('BAD_VERSION', scratch.path('model'), version);
  });

  test('a version that does not fit in an int64', async () => {
    const version = scratch.model('strings', 'model/9223372036854775808');
    await expectRefused('BAD_VERSION', scratch.path('model'), version);
  });

  test('a version twice', async () => {
    scratch.model('strings', 'model/1');
    const twin = scratch.model('strings', 'model/001');
    await expectRefused('BAD_VERSION', scratch.path('model'), twin);
  });

  test('a truncated saved_model.pb', async () => {
    const file = join(scratch.model('strings', 'model/1'), 'saved_model.pb');
    truncateSync(file, statSync(file).size - 7);
    await expectRefused('CORRUPT_FILE', scratch.path('model'), file);
  });

  test('variables that are missing or truncated', async () => {
    const model = scratch.model('digits', 'model/1');
    const data = join(model, 'variables', 'variables.data-00000-of-00001');
    truncateSync(data, 10);
    await expectRefused('CORRUPT_FILE', model, data);
    rmSync(data);
    await expectRefused('MISSING_FILE', model, data);
    rmSync(join(model, 'variables'), { recursive: true });
    await expectRefused('MISSING_FILE', model, join(model, 'variables', 'variables.index'));
  });

  test('an asset that is missing', async () => {
    const model = scratch.model('text_vocabulary', 'model/1');
    const [asset = ''] = readdirSync(join(model, 'assets'));
    rmSync(join(model, 'assets', asset));
    await expectRefused('MISSING_FILE', model, join(model, 'assets', asset));
  });

  test('a symbolic link that leaves the model', async () => {
    const model = scratch.model('strings', 'model/1');
    const secret = scratch.write('secret.txt', 'secret');
    symlinkSync(secret, join(model, 'assets.txt'));
    await expectRefused('UNSAFE_PATH', model, join(model, 'assets.txt'));
  });

  test('a broken link and a link to a folder around it', async () => {
    const model = scratch.model('strings', 'model/1');
    symlinkSync('nowhere', join(model, 'broken'));
    await expectRefused('UNSAFE_PATH', model, join(model, 'broken'));
    rmSync(join(model, 'broken'));
    symlinkSync('.', join(model, 'loop'));
    await expectRefused('UNSAFE_PATH', model, join(model, 'loop'));
  });

  test('a name that is not UTF-8', async () => {
    const model = scratch.model('strings', 'model/1');
    writeFileSync(Buffer.concat([Buffer.from(`${model}/`), Buffer.from([0x66, 0xfc, 0x72])]), 'x');
    await expectRefused('BAD_FILE_NAME', model, 'f\xfcr');
  });

  test('a pipe', async () => {
    const model = scratch.model('strings', 'model/1');
    execFileSync('mkfifo', [join(model, 'pipe')]);
    await expectRefused('BAD_FILE_NAME', model, join(model, 'pipe'));
  });

  test('a Python handler', async () => {
    scratch.model('strings', 'model/1');
    const handler = scratch.write('model/code/inference.py', 'def handler(data, context): pass');
    await expectRefused('PYTHON_HANDLER', scratch.path('model'), handler);
  });

  test('an archive with a Python handler, named by the archive', async () => {
    scratch.model('strings', 'in/1');
    scratch.write('in/code/inference.py', 'def handler(data, context): pass');
    const archive = scratch.path('old.tar.gz');
    execFileSync('tar', ['czf', archive, '-C', scratch.path('in'), '.']);
    await expectRefused('PYTHON_HANDLER', archive, `${archive}/code/inference.py`);
    const handler = scratch.write('inference.ts', HANDLER);
    const out = scratch.path('new.tar.gz');
    await packageModel({ source: archive, handler, out });
    const names = execFileSync('tar', ['tzf', out], { encoding: 'utf8' });
    expect(names).toMatch(/^code\/inference\.mjs$/m);
    expect(names).not.toContain('inference.py');
  });

  test('a handler where it would be ignored', async () => {
    scratch.model('strings', 'model/1');
    const handler = scratch.write('model/1/code/inference.ts', HANDLER);
    await expectRefused('BAD_OPTION', scratch.path('model'), handler);
  });

  test('a project instead of its model: both are named as they are to be given', async () => {
    scratch.model('strings', 'a project/model/1');
    scratch.write('a project/package.json', '{}');
    const handler = scratch.write('a project/inference.ts', HANDLER);
    const model = scratch.path('a project', 'model', '1');
    await expectRefused(
      'BAD_OPTION',
      scratch.path('a project'),
      `'${model}' --handler '${handler}'`,
    );
  });
});
