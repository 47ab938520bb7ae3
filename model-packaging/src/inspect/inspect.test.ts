import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { DTYPES, type DType } from '@sagemaker-tfs/tensors';
import { SavedModelSchema } from '@sagemaker-tfs/tensors/protos';
import { fixtureModel, fixtureModels, savedModelCliText } from '../../../test/fixtures/index.ts';
import { useScratch } from '../testing/scratch.ts';
import { inspectVersion } from './inspect.ts';
import type { MetaGraphReport, SignatureReport, TensorReport, VersionReport } from './report.ts';

const scratch = useScratch();

const inspect = (name: string, version?: string): VersionReport =>
  inspectVersion(fixtureModel(name, version));

const onlyGraph = (report: VersionReport): MetaGraphReport => {
  const [graph] = report.metaGraphs;
  if (!graph || report.metaGraphs.length > 1) throw new Error('one graph expected');
  return graph;
};

/** The signatures part of `saved_model_cli show --all`, from our report. */
function cliSignatures(report: VersionReport): string[] {
  const graphs = [...report.metaGraphs].sort((a, b) => (a.tags.join() < b.tags.join() ? -1 : 1));
  return graphs.flatMap(({ tags, signatures }) => [
    `MetaGraphDef with tag-set: '${tags.join(', ')}' contains the following SignatureDefs:`,
    ...Object.entries(signatures).flatMap(([key, signature]) => cliSignature(key, signature)),
  ]);
}

function cliSignature(key: string, { inputs, outputs, methodName }: SignatureReport): string[] {
  return [
    `signature_def['${key}']:`,
    '  The given SavedModel SignatureDef contains the following input(s):',
    ...Object.entries(inputs).flatMap(([name, tensor]) => cliTensor('inputs', name, tensor)),
    '  The given SavedModel SignatureDef contains the following output(s):',
    ...Object.entries(outputs).flatMap(([name, tensor]) => cliTensor('outputs', name, tensor)),
    `  Method name is: ${methodName}`,
  ];
}

function cliTensor(
  kind: string,
  name: string,
  { dtype, shape, tensorName }: TensorReport,
): string[] {
  return [
    `    ${kind}['${name}'] tensor_info:`,
    `        dtype: ${DTYPES[dtype as DType]?.enumName ?? dtype}`,
    `        shape: ${shape ? `(${shape.join(', ')})` : 'unknown_rank'}`,
    `        name: ${tensorName}`,
  ];
}

/** The lines of the tool's text about signatures, without the initializer's entry and the operations. */
function goldenSignatures(text: string): string[] {
  const [about = ''] = text.split('\nConcrete Functions:');
  const blocks = about.split(/\n(?=signature_def\[|MetaGraphDef with)/);
  return blocks
    .filter((block) => !block.startsWith("signature_def['__saved_model_init_op']"))
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.trim() !== '' && !line.startsWith('The MetaGraph with tag set'));
}

/** The operations that the tool lists; those inside of control flow are not among them. */
function goldenOps(text: string): string[] {
  const sets = text.matchAll(/contains the following ops: \{(.*)\}/g);
  return [...sets].flatMap(([, set = '']) => set.split(', ').map((op) => op.replaceAll("'", '')));
}

/** Function names with the arguments of each variant, `name(type, type)`. */
function goldenFunctions(text: string): string[] {
  const [, functions = ''] = text.split('\nConcrete Functions:');
  return functions
    .split(/\n {2}Function Name: /)
    .slice(1)
    .map((block) => {
      const name = /^'(.*)'/.exec(block)?.[1];
      const args = [
        ...block.matchAll(/^ {8}(?: {2})?(?:\w+: (TensorSpec.*)| {1,2}Value: (.*))$/gm),
      ];
      const texts = args.map(([, spec, value]) => spec ?? cliValue(value ?? ''));
      return `${name}(${texts.join('; ')})`;
    });
}

/** The tool ends lists with a comma and two backspaces. */
const cliValue = (text: string) => text.replaceAll('\b', '').replace(/, ([}\]])$/, '$1');

const loadable = fixtureModels().map((model) => [`${model.name}/${model.version}`, model] as const);

describe('the answer is saved_model_cli’s', () => {
  test.each(loadable)('signatures of %s', (_, model) => {
    const golden = savedModelCliText(model);
    expect(cliSignatures(inspectVersion(model))).toEqual(goldenSignatures(golden));
  });

  test.each(loadable)('operations of %s', (_, model) => {
    const ops = inspectVersion(model).metaGraphs.flatMap((graph) => Object.keys(graph.ops));
    const golden = goldenOps(savedModelCliText(model));
    expect(golden.length).toBeGreaterThan(0);
    expect(ops).toEqual(expect.arrayContaining(golden));
  });

  test.each(loadable)('functions of %s', (_, model) => {
    const functions = inspectVersion(model).metaGraphs.flatMap((graph) => graph.functions);
    const ours = functions.flatMap(({ name, options }) =>
      options.map((option) => `${name}(${option.arguments.join('; ')})`),
    );
    expect(ours).toEqual(goldenFunctions(savedModelCliText(model)));
  });
});

test('inputs that may be left out are shown with their defaults', () => {
  const { serving_default: signature } = onlyGraph(inspect('default_inputs')).signatures;
  expect(signature?.inputs.scale?.default).toEqual([2]);
  expect(signature?.inputs.offset?.default).toEqual([1]);
  expect(signature?.inputs.x).not.toHaveProperty('default');
});

test.each(['constructor', 'toString', 'hasOwnProperty'])('a tensor may be called %s', (name) => {
  const info = { encoding: { case: 'name' as const, value: 'x:0' }, dtype: 1 };
  const signature = { inputs: { [name]: info }, outputs: { [name]: info } };
  const metaGraphs = [{ metaInfoDef: { tags: ['serve'] }, signatureDef: { [name]: signature } }];
  const bytes = toBinary(SavedModelSchema, create(SavedModelSchema, { metaGraphs }));
  const path = scratch.write('odd/1/saved_model.pb', bytes);
  const report = inspectVersion({ version: '1', directory: dirname(path) });
  const { signatures } = onlyGraph(report);
  expect(Object.keys(signatures)).toEqual([name]);
  const tensor = { dtype: 'float32', shape: null, tensorName: 'x:0' };
  expect(signatures[name]).toMatchObject({
    inputs: { [name]: tensor },
    outputs: { [name]: tensor },
  });
});

test('assets are shown with their sizes', () => {
  const graph = onlyGraph(inspect('text_vocabulary'));
  const [asset] = graph.assets;
  const path = join(fixtureModel('text_vocabulary').directory, 'assets', asset?.filename ?? '');
  expect(graph.assets).toHaveLength(1);
  expect(asset?.bytes).toBe(readFileSync(path).length);
});

test('variables are shown with dtype, shape and size', () => {
  const report = inspect('digits');
  expect(report.variables.length).toBeGreaterThan(0);
  for (const { dtype, shape, bytes } of report.variables) {
    const { size } = DTYPES[dtype as DType];
    expect(bytes).toBe(shape.reduce((count, length) => count * length, size));
  }
  const sum = report.variables.reduce((total, { bytes }) => total + bytes, 0);
  expect(report.variableBytes).toBe(sum);
  expect(sum).toBeLessThan(report.bytes);
});

test('custom operations are flagged, TensorFlow’s own are not', () => {
  const custom = inspect('custom_op');
  expect(onlyGraph(custom).customOps).toEqual(['ExampleCustomOp']);
  expect(custom.problems.join()).toContain('ExampleCustomOp');
  expect(onlyGraph(inspect('keras_functional')).customOps).toEqual([]);
});

test('several tag sets are all told', () => {
  const { metaGraphs, problems } = inspect('two_tag_sets');
  expect(metaGraphs.length).toBe(2);
  expect(problems).toEqual([]);
});

describe('damage is reported with the path', () => {
  let copy: string;
  beforeEach(() => {
    copy = join(mkdtempSync(join(tmpdir(), 'inspect-')), '1');
    cpSync(fixtureModel('digits').directory, copy, { recursive: true });
  });
  afterEach(() => rmSync(join(copy, '..'), { recursive: true }));

  const inspectCopy = () => inspectVersion({ version: '1', directory: copy });

  test('a truncated saved_model.pb', () => {
    const path = join(copy, 'saved_model.pb');
    truncateSync(path, readFileSync(path).length - 100);
    expect(inspectCopy).toThrow(expect.objectContaining({ code: 'CORRUPT_FILE' }));
    expect(inspectCopy).toThrow(path);
  });

  test('a saved_model.pb of something else', () => {
    writeFileSync(join(copy, 'saved_model.pb'), '<!DOCTYPE html><title>404</title>');
    expect(inspectCopy).toThrow(expect.objectContaining({ code: 'CORRUPT_FILE' }));
  });

  test('an empty saved_model.pb', () => {
    writeFileSync(join(copy, 'saved_model.pb'), '');
    expect(inspectCopy).toThrow(/holds no graph/);
  });

  test('a truncated variables.index', () => {
    const path = join(copy, 'variables', 'variables.index');
    truncateSync(path, readFileSync(path).length - 10);
    expect(inspectCopy).toThrow(path);
  });

  test('missing and truncated variables are problems', () => {
    const path = join(copy, 'variables', 'variables.data-00000-of-00001');
    truncateSync(path, 10);
    expect(inspectCopy().problems.join()).toMatch(
      /data-00000-of-00001 is damaged or truncated: it has 10 bytes/,
    );
    rmSync(path);
    expect(inspectCopy().problems.join()).toMatch(/data-00000-of-00001 is missing/);
  });
});
