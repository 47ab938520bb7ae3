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
