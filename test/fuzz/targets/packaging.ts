/** Files that the command reads: models, archives, manifests. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ManifestError, parseManifest } from '@sagemaker-tfs/manifest';
import {
  extractArchive,
  extractZip,
  PackagingError,
  readCheckpoint,
  readSavedModel,
  readTable,
} from '@sagemaker-tfs/model-packaging/parts';
import { encodeNpz } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../fixtures/index.ts';
import { slipTo } from '../build/bytes.ts';
import { repeating, slippedPairs, tableOf } from '../build/checkpoint.ts';
import { changedJson, type Json } from '../build/json-text.ts';
import { changedMessage } from '../build/protobuf.ts';
import { tarOf } from '../build/tar.ts';
import { zipOf } from '../build/zip.ts';
import { pick, type Random } from '../random.ts';
import type { Target } from '../target.ts';
import { bytesOf, floats, JSON_TOKENS, strings } from './codecs.ts';
import { scratch } from './scratch.ts';

const isPackagingError = (error: unknown): boolean => error instanceof PackagingError;
const KERAS = fixtureModel('keras_functional').directory;

const MANIFEST = {
  manifestVersion: 1,
  packager: { name: 'packager', version: '1.0.0' },
  fingerprint: 'a'.repeat(64),
  files: { '1/saved_model.pb': { sha256: 'b'.repeat(64), bytes: 3 } },
  models: [
    {
      name: 'digits',
      versions: ['1'],
      signatures: {
        serving_default: {
          methodName: 'tensorflow/serving/predict',
          inputs: { x: { dtype: 'uint8', shape: [-1, 8, 8, 3] } },
          outputs: { y: { dtype: 'float32', shape: null } },
        },
      },
    },
  ],
  handler: 'code/inference.mjs',
  preprocess: { scale: 2 },
  postprocess: { softmax: 'y', topK: { output: 'y', k: 3 } },
};

async function unpack(ending: string, bytes: Buffer, extract: typeof extractZip): Promise<string> {
  const archive = join(scratch(), `archive${ending}`);
  const target = mkdtempSync(join(scratch(), 'out-'));
  writeFileSync(archive, bytes);
  try {
    await extract(archive, target);
    return 'unpacked';
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

const NAMES = ['a/b.npy', 'c', 'a/', '1/saved_model.pb', 'x'.repeat(200)];
const BAD_NAMES = ['../x', '/x', 'a/../../x', '', 'a\\..\\..\\x', 'C:/x', '\xff', 'a/b.npy/c', '.'];
const MODES = [0o100644, 0o040755, 0o120777, 0o020666, 0o010644];

function archiveOf(random: Random): Buffer {
  const entries = Array.from({ length: 1 + random(4) }, () => ({
    name: slipTo(random, pick(random, NAMES), BAD_NAMES),
    content: repeating(random),
    mode: random(4) ? 0 : pick(random, MODES),
  })).map((entry) => (entry.name.endsWith('/') ? { ...entry, content: Buffer.alloc(0) } : entry));
  return zipOf(random, entries);
}

/** Pairs of the table of a checkpoint, each a message of its own. */
function pairs() {
  return readTable(join(KERAS, 'variables', 'variables.index'));
}

/** Small ones: each is read whole for every input. */
const SAVED_MODELS = ['sparse_input', 'custom_op', 'tf1_vocabulary', 'half_plus_two'];

/** The targets. */
export const PACKAGING: readonly Target[] = [
  {
    name: 'manifest',
    bytesPerByte: 64,
    seeds: async () => [Buffer.from(JSON.stringify(MANIFEST))],
    tokens: JSON_TOKENS,
    build: (random) => {
      let value: Json = MANIFEST;
      for (let change = random(3); change >= 0; change--) value = changedJson(random, value);
      return Buffer.from(JSON.stringify(value));
    },
    isRefusal: (error) => error instanceof ManifestError,
    read: (bytes) => parseManifest(bytes.toString('utf8')),
  },
  {
    name: 'checkpoint-index',
    bytesPerByte: 64,
    seeds: async () => [readFileSync(join(KERAS, 'variables', 'variables.index'))],
    tokens: ['\x57\xfb\x80\x8b\x24\x75\x47\xdb'],
    build: (random) => {
      const changed = pairs().map(({ key, value }) => ({
        key,
        value: random(40) ? value : changedMessage(random, [value]),
      }));
      return tableOf(random, random(4) ? changed : slippedPairs(random, changed));
    },
    isRefusal: isPackagingError,
    read(bytes) {
      const path = join(scratch(), 'model', 'variables', 'variables.index');
      writeFileSync(path, bytes);
      return [readTable(path).length, readCheckpoint(join(scratch(), 'model'))?.variables.length];
    },
  },
  {
    name: 'saved-model',
    bytesPerByte: 64,
    seeds: async () =>
      SAVED_MODELS.map((name) =>
        readFileSync(join(fixtureModel(name).directory, 'saved_model.pb')),
      ),
    tokens: ['\x0a', '\x12', '\x1a', '\x22', '\x2a'],
    build: changedMessage,
    isRefusal: isPackagingError,
    read(bytes) {
      writeFileSync(join(scratch(), 'model', 'saved_model.pb'), bytes);
      return readSavedModel(join(scratch(), 'model')).metaGraphs?.length;
    },
  },
  {
    name: 'tar',
    bytesPerByte: 64,
    seeds: async () =>
      [1, 2].map((seed) => tarOf((limit) => (seed === 1 ? limit - 1 : limit >> 1))),
    tokens: ['../', '/', '\0', 'ustar', '7777777', '2', 'L'],
    build: tarOf,
    isRefusal: isPackagingError,
    read: (bytes) => unpack('.tar', bytes, extractArchive),
  },
  {
    name: 'zip',
    bytesPerByte: 64,
    seeds: async () => [bytesOf(encodeNpz({ 'a/b': floats(2), c: strings }))],
    tokens: ['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', '../', '/'],
    build: archiveOf,
    isRefusal: isPackagingError,
    read: (bytes) => unpack('.zip', bytes, extractZip),
  },
];
