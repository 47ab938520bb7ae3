/** Defaults that doc comments and descriptions of the configuration show are those that the room's code takes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SETTINGS } from '@sagemaker-tfs/batch';
import { ROOMS } from './rooms.ts';
import { ROOT, trackedFiles } from './tracked-files.ts';

/** Shown defaults that no code of ours takes, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'cli/src/serving/serve-model.ts backend': "the runtime's own",
  'cli/src/testing/start-model.ts backend': "the runtime's own",
  'client/src/custom-attributes.ts method': "the runtime's own",
  'client/src/custom-attributes.ts signature': "the runtime's own",
  'container/src/http/server.ts foreignPages': 'all but `refuse`',
  'container/src/model-server/supervisor.ts leastLevel': 'process.ts takes it, which it calls',
  'lib/batch-worker/props.ts ranges': 'a formula',
  'lib/config/deployment.ts traffic': 'what SageMaker does without a policy',
  'lib/config/endpoint.ts frequencySeconds': "SageMaker's own",
  'lib/config/image.ts directory': 'a path in the package',
  'lib/config/sources.ts handler': 'a path in the model',
  'lib/endpoint/metrics-config.ts frequencySeconds': "SageMaker's own",
  'libtensorflow/src/saved-model-session.ts tags': 'a list',
  'libtensorflow/src/serving/batch-queue.ts fill': 'another option',
  'libtensorflow/src/serving/batching-options.ts afterFailure': 'a function that returns it',
  'libtensorflow/src/serving/batching-options.ts random': 'a function',
  'model-packaging/src/plan/content.ts handler': 'a path in the model',
};

const texts = new Map(
  trackedFiles('lib/*.ts', ...ROOMS.map((room) => `${room}/src/*.ts`))
    .filter((file) => !/\.test\.ts$|\/gen\//.test(file))
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);
const roomOf = (file: string) => file.split('/', 1)[0] ?? '';
const code = [...texts].map(([file, text]) => ({
  room: roomOf(file),
  text: text.replace(/^\s*(\*|\/\/|\/\*\*).*$/gm, ''),
}));

interface Shown {
  readonly file: string;
  readonly name: string;
  readonly value: string;
}

/** `@default 5`; neither `@default - in words` nor the statistic of a metric. */
const DOC =
  /@default (?!- |\w+ over )([^\n]*?)(?: \*\/)?\n(?:\s*\*[^\n]*\n)*?(?:\s*\*\/\n)?\s*readonly (\w+)\??:/g;
/** The doc comment of an optional field. */
const FIELD = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n\s*readonly (\w+)\?:/g;
/** `Default: 5.` at the end of the description of a field, unless a condition follows. */
const DESCRIBED = /Default: (`[^`]+`|[\d.,]*\d)(?![\w`]| (?:for|if|with)\b)/;

const shown: readonly Shown[] = [...texts].flatMap(([file, text]) => {
  const inDocs = [...text.matchAll(DOC)].map(([, value = '', name = '']) => ({
    file,
    name,
    value,
  }));
  const inWords = [...text.matchAll(FIELD)].flatMap(([, doc = '', name = '']) => {
    const value = DESCRIBED.exec(doc)?.[1]?.replaceAll('`', '');
    return value === undefined ? [] : [{ file, name, value }];
  });
  inDocs.push(...inWords);
  if (!file.startsWith('lib/config')) return inDocs;
  const fields = text.split(/\n\s+(?=\w+: )/);
  const described = fields.flatMap((field) => {
    const value = DESCRIBED.exec(field)?.[1]?.replaceAll('`', '');
    return value === undefined ? [] : [{ file, name: /^\w+/.exec(field)?.[0] ?? '', value }];
  });
  return [...inDocs, ...described];
});

const TOKEN = /'[^']*'|\b[A-Z][\w.]*(?:\([\w.]+\))?|(?<![\w.])\d[\d_.]*(?:e-?\d+)?|true|false/g;
const SECONDS: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600 };

/** A value in one form: a number, a text without quotes, durations in seconds, constants as what they are. */
function inOneForm(token: string): string {
  const [, unit = '', amount = ''] = /^Duration\.(\w+)\((.+)\)$/.exec(token) ?? [];
  if (unit) return String(Number(inOneForm(amount)) * (SECONDS[unit] ?? Number.NaN));
  if (/^\d/.test(token)) return String(Number(token.replace(/[_,]/g, '')));
  const [, name = token, member] = /^([A-Z]\w*)\.(\w+)$/.exec(token) ?? [];
  if (!/^[A-Z][A-Z_\d]+$/.test(name)) return token.replaceAll("'", '');
  const declared = new RegExp(`\\bconst ${name}(?:: [^=]+)? = ([^;]+);`);
  const text = code.map((one) => declared.exec(one.text)?.[1]).find(Boolean) ?? token;
  const value = member ? new RegExp(`\\b${member}: ([^,\\n]+)`).exec(text)?.[1] : text;
  return value === undefined || value === token ? token : inOneForm(value.trim());
}

/** What the code takes for a prop or field that is left out. */
function taken(name: string, room: string): Set<string> {
  const own = code.filter((one) => one.room === room || (room === 'lib' && one.room === 'batch'));
  const use = new RegExp(`\\b${name}(?: =| ?\\?\\?) ([^;}\\n]+)`, 'g');
  const found = own.flatMap(({ text }) => [...text.matchAll(use)].map(([, value = '']) => value));
  const settings: Readonly<Record<string, unknown>> = DEFAULT_SETTINGS;
  const setting = settings[name] ?? settings[`${name}InSeconds`];
  const isOnUnlessFalse = own.some(({ text }) => new RegExp(`\\b${name} [!=]== false`).test(text));
  return new Set([
    ...found.flatMap((value) => value.match(TOKEN) ?? []).map(inOneForm),
    ...(setting === undefined ? [] : [String(setting)]),
    ...(isOnUnlessFalse ? ['true'] : []),
    // Nothing is false by itself.
    ...(found.length === 0 ? ['false'] : []),
  ]);
}

test('defaults are shown', () => {
  expect(shown.length).toBeGreaterThan(130);
  const places = new Set(shown.map(({ file, name }) => `${file} ${name}`));
  expect(Object.keys(ALLOWED).filter((place) => !places.has(place))).toEqual([]);
});

test('what is shown is what the code takes', () => {
  const wrong = shown.flatMap(({ file, name, value }) => {
    const first =
      /^(\d[\d.]*) seconds$/.exec(value)?.[1] ?? value.split(/,? (?:and|for|one|-) |, /)[0];
    const values = taken(name, roomOf(file));
    const isTaken = values.has(inOneForm(first ?? ''));
    return isTaken || `${file} ${name}` in ALLOWED ? [] : [{ file, name, value, taken: values }];
  });
  expect(wrong).toEqual([]);
});
