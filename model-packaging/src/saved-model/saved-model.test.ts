import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { useScratch, withCode } from '../testing/scratch.ts';
import { readSavedModel, servingGraph } from './saved-model.ts';

const scratch = useScratch();

/** The tag and length of a field whose content follows. */
function opening(field: number, length: number): Buffer {
  const writer = new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length);
  return Buffer.from(writer.finish());
}

const textField = (field: number, text: string) =>
  Buffer.concat([opening(field, Buffer.byteLength(text)), Buffer.from(text)]);

/** A message around `inner`, which is cut off before a tail of `tail` bytes. */
const around = (field: number, inner: Buffer, tail: number) =>
  Buffer.concat([opening(field, inner.length + tail), inner]);

test('a constant of nearly 2 GB is passed over, not read', () => {
  const constant = 1.9e9;
  const attribute = opening(5, constant);
  const node = Buffer.concat([textField(1, 'weights'), textField(2, 'Const'), attribute]);
  const graph = around(1, node, constant);
  const metaGraph = Buffer.concat([
    around(1, textField(4, 'serve'), 0),
    around(2, graph, constant),
  ]);
  const file = openSync(scratch.write('saved_model.pb', ''), 'r+');
  const start = around(2, metaGraph, constant);
  writeSync(file, start);
  ftruncateSync(file, start.length + constant);
  closeSync(file);
  const before = process.memoryUsage();
  const model = servingGraph(readSavedModel(scratch.path()));
  const after = process.memoryUsage();
  expect([...model.graph.ops]).toEqual([['Const', 1]]);
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32e6);
});

test('a model without a graph for serving is refused, telling its tags', () => {
  const metaGraph = around(1, Buffer.concat([textField(4, 'train'), textField(4, 'gpu')]), 0);
  scratch.write('saved_model.pb', around(2, metaGraph, 0));
  const read = () => servingGraph(readSavedModel(scratch.path()));
  expect(read).toThrow(withCode('NOT_A_SAVED_MODEL'));
  expect(read).toThrow(/no graph tagged 'serve', only \[gpu, train\]/);
});

test('a SavedModel in chunks is refused with advice', () => {
  const file = scratch.write('saved_model.cpb', 'x');
  expect(() => readSavedModel(scratch.path())).toThrow(file);
});

test('the same file is parsed once, a changed one again', () => {
  const write = (tag: string) =>
    scratch.write('saved_model.pb', around(2, around(1, textField(4, tag), 0), 0));
  write('serve');
  const first = readSavedModel(scratch.path());
  expect(readSavedModel(scratch.path())).toBe(first);
  write('train');
  expect(readSavedModel(scratch.path()).metaGraphs.map(({ tags }) => tags)).toEqual([['train']]);
});

describe('what no model has is refused before objects are made of it', () => {
  const times = (count: number, bytes: Buffer) => Buffer.alloc(count * bytes.length, bytes);
  const graphOf = (inner: Buffer) => around(2, around(2, inner, 0), 0);
  const NODE = Buffer.from([0x0a, 0]);
  const FUNCTION_OF_NODES = around(2, around(1, times(3e6, Buffer.from([0x1a, 0])), 0), 0);
  const SIGNATURE = (i: number) => around(5, textField(1, `signature ${i}`), 0);
  test.each<[string, Buffer]>([
    ['graphs for tags', times(1e7, Buffer.from([0x12, 0]))],
    ['nodes', graphOf(times(3e6, NODE))],
    ['nodes', graphOf(FUNCTION_OF_NODES)],
    ['functions', graphOf(around(2, times(5e6, NODE), 0))],
    [
      'signatures',
      around(2, Buffer.concat(Array.from({ length: 20_000 }, (_, i) => SIGNATURE(i))), 0),
    ],
    ['bytes of signatures', around(2, around(5, Buffer.alloc(5e6), 0), 0)],
    ['asset files', around(2, times(2e5, Buffer.from([0x32, 0])), 0)],
    ['bytes of tags and assets', around(2, around(1, Buffer.alloc(4e7), 0), 0)],
    ['Python objects', around(2, around(7, times(5e6, NODE), 0), 0)],
    ['Python objects', around(2, around(7, around(1, times(5e6, NODE), 0), 0), 0)],
    ['entries beside', times(1e6, Buffer.from([0x18, 0]))],
    ['fields', graphOf(times(1e7, Buffer.from([0x18, 0])))],
  ])('%s', (what, bytes) => {
    scratch.write('saved_model.pb', bytes);
    const read = () => readSavedModel(scratch.path());
    expect(read).toThrow(withCode('CORRUPT_FILE'));
    expect(read).toThrow(new RegExp(`more than \\d+ ${what}`));
  });

  test('a graph larger than most is read', () => {
    const count = 300_000;
    scratch.write('saved_model.pb', graphOf(times(count, around(1, textField(2, 'NoOp'), 0))));
    expect(readSavedModel(scratch.path()).metaGraphs[0]?.graph.nodes).toBe(count);
  });
});
