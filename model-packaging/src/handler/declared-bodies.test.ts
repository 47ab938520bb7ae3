import { useScratch, withCode } from '../testing/scratch.ts';
import { bundleHandler } from './bundle.ts';
import { type DeclaredBodies, declaredBodies } from './declared-bodies.ts';

const scratch = useScratch();

async function declared(source: string): Promise<DeclaredBodies | undefined> {
  const file = scratch.write('inference.ts', source);
  const { exports } = await bundleHandler(file);
  return declaredBodies(file, exports);
}
const HANDLER = 'export const handler = () => ({});';

test('a handler without the export declares nothing, and is not run', async () => {
  expect(await declared(`${HANDLER} throw new Error('run');`)).toBeUndefined();
});

test.each([
  ["{ type: 'string' }", { 'application/json': { type: 'string' } }],
  [
    "{ 'text/csv': { type: 'string' }, 'image/*': {} }",
    { 'text/csv': { type: 'string' }, 'image/*': {} },
  ],
  [
    "{ '~standard': { jsonSchema: { input: ({ target }) => ({ title: target }) } } }",
    { 'application/json': { title: 'draft-2020-12' } },
  ],
  ['true', { 'application/json': true }],
  ['{ toJSONSchema: ({ io }) => ({ title: io }) }', { 'application/json': { title: 'input' } }],
])('a request declared as %s', async (schema, request) => {
  expect(await declared(`${HANDLER} export const openapi = { request: ${schema} };`)).toEqual({
    decides: ['request', 'answer'],
    request,
  });
});

test('only what the export needs is run: not the runtime, and nothing that is printed disturbs', async () => {
  const source = `
    import { HttpError, numericTensor } from 'sagemaker-tfs/handler';
    class Refused extends HttpError {}
    const empty = numericTensor('float32', [0], []);
    console.log('hello');
    export const outputHandler = () => { throw new Refused(400, String(empty)); };
    export const openapi = { answer: { type: 'array' } };`;
  expect(await declared(source)).toEqual({
    decides: ['answer'],
    answer: { 'application/json': { type: 'array' } },
  });
});

test.each([
  [
    "export const openapi = { request: { type: 'object' }, answers: {} };",
    /cannot be read: Unrecognized key: "answers"/,
  ],
  ["export const openapi = 'no';", /: it is a string, and no object\./],
  ['export const openapi = 5;', /: it is a number, and no object\./],
  ['export const openapi = null;', /: it is null, and no object\./],
  ['export const openapi = [];', /: it is a list, and no object\./],
  ['export const openapi = async () => ({});', /: it is a function, and no object\./],
  ['export const openapi = Promise.resolve({});', /: it is a promise, and no object\./],
  ['export const openapi = { request: null };', /: request\.application\/json: it is neither/],
  [
    'export const openapi = { answer: () => ({}) };',
    /: answer\.application\/json: a function is no schema\./,
  ],
  ...[
    ["{ '~standard': { version: 1, vendor: 'valibot' }, kind: 'schema' }", 'valibot'],
    ["{ '~standard': { vendor: 'zod' }, def: { type: 'object' }, type: 'object' }", 'zod'],
    ["{ _zod: {}, def: { type: 'any' }, type: 'any' }", 'zod'],
    ["{ _def: { typeName: 'ZodObject' } }", 'zod'],
    ["{ 'application/json': { _def: { typeName: 'ZodObject' } } }", 'zod'],
    ["Object.assign(() => ({}), { '~standard': { version: 1, vendor: 'arktype' } })", 'arktype'],
  ].map(([schema, vendor]): [string, RegExp] => [
    `export const openapi = { request: ${schema} };`,
    new RegExp(`: request\\.application/json: a schema of ${vendor} that does not become`),
  ]),
  [
    "export const openapi = { answer: { toJSONSchema: () => { throw new TypeError('no dates'); } } };",
    /cannot be read: answer\.application\/json: no dates\./,
  ],
  [
    "export const openapi = { request: { properties: { x: { type: 'nmber' } } } };",
    /: request\.application\/json\.properties\.x\.type: "nmber" is wrong\. Write one of /,
  ],
  ["export const openapi = { request: 'no' };", /request\.application\/json: /],
  ["export const openapi = { request: { 'a/b/c': {} } };", /is no media type/],
  [
    "export const openapi = { request: require('node:fs').readFileSync('/opt/nothing') };",
    /ENOENT.*'\/opt\/nothing'/,
  ],
])('%s is refused', async (source, message) => {
  const error = await declared(`${HANDLER} ${source}`).catch((thrown: unknown) => thrown);
  expect(error).toEqual(withCode('HANDLER_SCHEMA'));
  expect((error as Error).message).toMatch(message);
});
