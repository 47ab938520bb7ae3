/** Every parser of bytes that come from outside. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import jpegTurbo from '@julusian/jpeg-turbo';
import { ManifestError, parseManifest } from '@sagemaker-tfs/manifest';
import {
  decodePredictResponse,
  decodeTensorProto,
  encodeLengthPrefixed,
  encodeNpy,
  encodeNpz,
  encodePredictResponse,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTensorProto,
  encodeTfRecord,
  numericTensor,
  type Signature,
  stringTensor,
  TensorError,
} from '@sagemaker-tfs/tensors';
import sharp from 'sharp';
import { readPredictReply } from '../../container/src/backends/rest/predict-json.ts';
import { acceptableTypes, parseMediaType } from '../../container/src/codecs/media-type.ts';
import { decodeRequest } from '../../container/src/codecs/registry.ts';
import { signatureOf } from '../../container/src/codecs/test-signatures.ts';
import { decodeExample } from '../../container/src/codecs/tf-example.ts';
import { encodeExample } from '../../container/src/codecs/tf-example-writer.ts';
import { DEFAULT_DECODE_LIMITS } from '../../container/src/decode-limits.ts';
import { ServingError } from '../../container/src/errors.ts';
import { decodeImage } from '../../container/src/images/decode-image.ts';
import { readJpegHeader } from '../../container/src/images/jpeg-header.ts';
import { gradient } from '../../container/src/images/test-pictures.ts';
import { checkCall } from '../../container/src/inference/check-call.ts';
import { parseRequestAttributes } from '../../container/src/inference/custom-attributes.ts';
import {
  FrameReader,
  Http2ProtocolError,
} from '../../container/src/transport/grpc/frame-reader.ts';
import { frame } from '../../container/src/transport/grpc/frames.ts';
import { encodeHeaders, HeaderDecoder } from '../../container/src/transport/grpc/hpack.ts';
import {
  HttpProtocolError,
  ResponseReader,
} from '../../container/src/transport/http/response-reader.ts';
import { PackagingError } from '../../model-packaging/src/errors.ts';
import { readSavedModel } from '../../model-packaging/src/saved-model/saved-model.ts';
import { readTable } from '../../model-packaging/src/saved-model/sstable.ts';
import { readCheckpoint } from '../../model-packaging/src/saved-model/variables.ts';
import { extractArchive } from '../../model-packaging/src/source/extract.ts';
import { extractZip } from '../../model-packaging/src/source/extract-zip.ts';
import { fixtureModel } from '../fixtures/index.ts';
import { pick, type Random } from './random.ts';
import type { Target } from './target.ts';

const SIGNATURES: readonly Signature[] = [
  signatureOf({ x: ['float32', [-1]] }),
  signatureOf({ x: ['float32', [-1, 2]] }),
  signatureOf({ x: ['float32', undefined] }),
  signatureOf({ x: ['int64', [-1, -1]], s: ['string', [-1]] }),
  signatureOf({ s: ['string', [-1]] }),
  signatureOf({ b: ['bool', [-1]] }),
  signatureOf({ image: ['uint8', [-1, 8, 8, 3]] }),
];
const LIMITS = {
  ...DEFAULT_DECODE_LIMITS,
  maxDecodedBytes: 64 * 2 ** 20,
  maxImagePixels: 1_000_000,
};

const isTensorError = (error: unknown): boolean => error instanceof TensorError;
const isPackagingError = (error: unknown): boolean => error instanceof PackagingError;
/** A fault of the client's. */
const isClientError = (error: unknown): boolean =>
  error instanceof ServingError && error.status >= 400 && error.status < 500;

/** A body of a media type, read for one of the signatures, and checked against it. */
function codec(
  name: string,
  contentType: string,
  seeds: () => Promise<readonly Uint8Array[]>,
  more: Pick<Target, 'tokens' | 'frame'>,
): Target {
  return {
    name,
    seeds,
    ...more,
    isRefusal: isClientError,
    async read(bytes, random) {
      const signature = pick(random, SIGNATURES);
      const context = { signature, contentType, limits: LIMITS };
      const { inputs, signatureName } = await decodeRequest(bytes, context);
      return signatureName === undefined ? checkCall(signature, inputs).inputs : signatureName;
    },
  };
}

const floats = (...shape: number[]) => {
  const count = shape.reduce((product, size) => product * size, 1);
  return numericTensor(
    'float32',
    shape,
    Float32Array.from({ length: count }, (_, i) => i),
  );
};
const strings = stringTensor([2], ['a', 'text of some length']);
const bytesOf = (chunks: readonly Uint8Array[]): Buffer => Buffer.concat(chunks);
const texts =
  (...list: string[]) =>
  async () =>
    list.map((text) => Buffer.from(text));
const JSON_TOKENS = [
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '\\u0000',
    '\\ud800',
    '1e999',
    '-0',
    'NaN',
    '-Infinity',
    'null',
  ],
  ...[
    'true',
    '{"b64":"AA=="}',
    '"instances":',
    '"inputs":',
    '"examples":',
    '"signature_name":',
    '\n',
  ],
  ...['12345678901234567890', '0.1', '__proto__', 'constructor', '"x":', '\u00ff'],
];
const CSV_TOKENS = [
  ',',
  '"',
  '""',
  '\n',
  '\r\n',
  '\r',
  'nan',
  '-inf',
  '0x10',
  '1e400',
  '\u00ff',
  '__proto__',
];
const NPY_TOKENS = [
  "'descr': ",
  "'<f4'",
  "'|S1'",
  "'>U2'",
  "'|O'",
  '(',
  ')',
  ',',
  'True',
  '1',
  '-1',
  '0',
  '999999999999',
];

const example = encodeExample({ x: floats(2), s: strings });
const record = encodeSageMakerRecord({ x: floats(2), values: floats(3) });

async function pictures(): Promise<Buffer[]> {
  const picture = gradient(24, 16);
  return Promise.all([
    picture.clone().jpeg().toBuffer(),
    picture.clone().jpeg({ progressive: true }).toBuffer(),
    picture.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    picture.clone().toColourspace('cmyk').jpeg().toBuffer(),
    picture.clone().toColourspace('b-w').jpeg().toBuffer(),
    picture.clone().png().toBuffer(),
    picture.clone().webp().toBuffer(),
    picture.clone().gif().toBuffer(),
    picture.clone().tiff({ compression: 'lzw' }).toBuffer(),
    picture.clone().tiff({ compression: 'none' }).toBuffer(),
  ]);
}
const MARKERS = [
  '\xff\xd0',
  '\xff\xd8',
  '\xff\x00',
  '\xff\x01',
  '\xff\xc0\x00\x11\x08',
  '\xff\xda',
  '\xff\xff',
  '\xff\xfe',
];

/** Files that a parser wants on a disk; one folder for the process. */
let folder: string | undefined;
function scratch(): string {
  if (folder) return folder;
  folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
  mkdirSync(join(folder, 'model', 'variables'), { recursive: true });
  process.once('exit', removeScratch);
  return folder;
}

/** Removes what the targets wrote; done when the process ends, at the latest. */
export function removeScratch(): void {
  if (folder) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
}

const KERAS = fixtureModel('keras_functional').directory;
const zipped = (content: Buffer): Buffer => {
  const raw = deflateRawSync(content);
  const archive = bytesOf(encodeNpz({ x: floats(2) }));
  return Buffer.concat([archive.subarray(0, 30), raw, archive.subarray(30)]);
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

/** A tar archive of one file. */
function tar(name: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        0', 148);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body, Buffer.alloc(1024)]);
}

/** The targets, cheap ones first. */
export const TARGETS: readonly Target[] = [
  codec(
    'json',
    'application/json',
    texts(
      '{"instances":[1.5,2,3]}',
      '{"instances":[[1,2],[3,4]]}',
      '{"inputs":{"x":[[1,2]],"s":["a"]}}',
      '{"examples":[{"x":1.0,"s":"a"},{"x":2.0,"s":{"b64":"YQ=="}}]}',
      '[[1,2],[3,4]]',
      `{"instances":[${Array(200).fill('0.25').join(',')}]}`,
    ),
    { tokens: JSON_TOKENS },
  ),
  codec(
    'json-lines',
    'application/jsonlines',
    texts('[1,2]\n[3,4]\n', '"a"\n"b"', '{"x":1}{"x":2}'),
    {
      tokens: JSON_TOKENS,
    },
  ),
  codec('csv', 'text/csv', texts('1,2\n3,4\n', 'a\n"b ""c""\nd"\n', '1\r2\r', '1;2'), {
    tokens: CSV_TOKENS,
  }),
  codec('csv-header', 'text/csv; header=present', texts('x,s\n1,a\n2,b\n', 'x\n1\n'), {
    tokens: CSV_TOKENS,
  }),
  codec(
    'npy',
    'application/x-npy',
    async () =>
      [floats(3), floats(2, 2), strings, numericTensor('int64', [1, 1], new BigInt64Array(1))].map(
        (tensor) => bytesOf(encodeNpy(tensor)),
      ),
    { tokens: NPY_TOKENS },
  ),
  codec(
    'npz',
    'application/x-npz',
    async () => [
      bytesOf(encodeNpz({ x: floats(3) })),
      bytesOf(encodeNpz({ x: numericTensor('int64', [1, 1], new BigInt64Array(1)), s: strings })),
    ],
    { tokens: ['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', '.npy', 'x.npy'], frame: zipped },
  ),
  codec(
    'tfrecord',
    'application/x-tfrecord',
    async () => [example, Buffer.from('text')].map((content) => bytesOf(encodeTfRecord(content))),
    {
      tokens: ['x', 's', '\x0a', '\x12', '\x1a'],
      frame: (content) => bytesOf([...encodeTfRecord(content), ...encodeTfRecord(example)]),
    },
  ),
  codec(
    'recordio',
    'application/x-recordio',
    async () => [
      bytesOf(encodeRecordIo(example)),
      bytesOf(encodeRecordIo(Buffer.from('0a23d7ce0a23d7ce', 'hex'))),
    ],
    {
      tokens: ['\x0a\x23\xd7\xce'],
      frame: (content) => bytesOf(encodeRecordIo(content)),
    },
  ),
  codec(
    'recordio-protobuf',
    'application/x-recordio-protobuf',
    async () => [bytesOf(encodeRecordIo(record))],
    {
      tokens: ['x', 'values', '\x0a', '\x12', '\x1a'],
      frame: (content) => bytesOf(encodeRecordIo(content)),
    },
  ),
  codec(
    'length-prefixed',
    'application/octet-stream',
    async () => [
      bytesOf(encodeLengthPrefixed(example)),
      bytesOf(encodeLengthPrefixed(Buffer.from('a'))),
    ],
    {
      tokens: ['\0\0\0\0', '\0\0\0\x01'],
      frame: (content) => bytesOf(encodeLengthPrefixed(content)),
    },
  ),
  {
    name: 'custom-attributes',
    seeds: texts(
      'tfs-transport=grpc,tfs-model-name=a%2Cb,tfs-model-version=1',
      'tfs-outputs=a%2Cb,tfs-method=predict',
    ),
    tokens: [
      '=',
      ',',
      '%',
      '%2C',
      '%zz',
      '%c3%28',
      'tfs-model-version=',
      'tfs-method=',
      '99999999999999999999',
    ],
    isRefusal: isClientError,
    read: (bytes) => parseRequestAttributes(bytes.toString('latin1')),
  },
  {
    name: 'media-types',
    seeds: texts(
      'application/json; charset=utf-8',
      'text/csv; header=present, */*;q=0.5',
      'image/*',
    ),
    tokens: ['/', ';', '=', ',', '"', '*', 'q=', '0.5', 'q=-1'],
    isRefusal: isClientError,
    read: (bytes) => [
      parseMediaType(bytes.toString('latin1')),
      acceptableTypes(bytes.toString('latin1'), ['application/json', 'text/csv']),
    ],
  },
  {
    name: 'tensor-proto',
    seeds: async () => [floats(2, 3), strings].map((tensor) => bytesOf(encodeTensorProto(tensor))),
    tokens: ['\x12', '\x08\x01', '\x22', '\x2d', '\x3a', '\x42\0'],
    isRefusal: isTensorError,
    read: (bytes) => decodeTensorProto(bytes).shape,
  },
  {
    name: 'predict-response',
    seeds: async () => [
      bytesOf(
        encodePredictResponse({
          model: { name: 'm', version: '1' },
          signature: 's',
          outputs: { y: floats(2), t: strings },
        }),
      ),
    ],
    tokens: ['\x0a', '\x12', '\x1a'],
    isRefusal: isTensorError,
    read: (bytes) => decodePredictResponse(bytes).model,
  },
  {
    name: 'tf-example',
    seeds: async () => [example],
    tokens: ['\x0a', '\x12', '\x1a', '\x0d', '\x08'],
    isRefusal: isTensorError,
    read: (bytes) => Object.keys(decodeExample(bytes, LIMITS) ?? {}),
  },
  {
    name: 'rest-reply-json',
    seeds: texts('{"outputs":[[1,2]]}', '{"outputs":{"y":[1],"t":["a"]}}'),
    tokens: JSON_TOKENS,
    isRefusal: (error) => error instanceof ServingError || isTensorError(error),
    read: (bytes, random) =>
      readPredictReply(
        bytes,
        pick(random, [
          signatureOf({}, { y: ['float32', [-1, -1]] }),
          signatureOf({}, { y: ['float32', [-1]], t: ['string', [-1]] }),
        ]),
        undefined,
      ),
  },
  {
    name: 'rest-reply-http',
    seeds: texts(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ),
    tokens: [
      '\r\n',
      '\r\n\r\n',
      ':',
      'Content-Length: ',
      'Transfer-Encoding: chunked',
      'ffffffffffff',
      '100 Continue',
      'HTTP/1.1 ',
    ],
    isRefusal: (error) => error instanceof HttpProtocolError,
    read: readHttp,
  },
  {
    name: 'http2-frames',
    seeds: async () => [
      Buffer.concat([
        frame({ type: 4, flags: 0, stream: 0 }, Buffer.alloc(6)),
        frame({ type: 1, flags: 4, stream: 1 }, encodeHeaders([[':status', '200']])),
        frame({ type: 0, flags: 8, stream: 1 }, Buffer.from('\x02data\0\0', 'latin1')),
      ]),
    ],
    tokens: ['\0\0\0\x04\0\0\0\0\0', '\0\0\0\0\x08'],
    isRefusal: (error) => error instanceof Http2ProtocolError,
    read: readFrames,
  },
  {
    name: 'hpack',
    seeds: async () => [
      encodeHeaders([
        [':status', '200'],
        ['grpc-status', '0'],
      ]),
      Buffer.from('828684418cf1e3c2e5f23a6ba0ab90f4ff', 'hex'),
    ],
    tokens: ['\x80', '\xff', '\x3f\xe1\x1f', '\x40', '\x7f', '\x80\x80\x80\x80\x80'],
    // Node's own are of another realm in tests.
    isRefusal: (error) => (error as Error).name === 'RangeError',
    read: (bytes) => new HeaderDecoder().decode(bytes),
  },
  {
    name: 'manifest',
    seeds: texts(
      '{"version":1}',
      '{"version":1,"preprocess":{"size":[8,8]},"handler":"code/inference.js"}',
    ),
    tokens: JSON_TOKENS,
    isRefusal: (error) => error instanceof ManifestError,
    read: (bytes) => parseManifest(bytes.toString('utf8')),
  },
  {
    name: 'jpeg-header',
    seeds: async () => (await pictures()).slice(0, 5),
    tokens: MARKERS,
    isRefusal: (error) => error instanceof Refused,
    read: readHeader,
  },
  {
    name: 'checkpoint-index',
    seeds: async () => [readFileSync(join(KERAS, 'variables', 'variables.index'))],
    tokens: ['\x57\xfb\x80\x8b\x24\x75\x47\xdb'],
    isRefusal: isPackagingError,
    read(bytes) {
      const path = join(scratch(), 'model', 'variables', 'variables.index');
      writeFileSync(path, bytes);
      return [readTable(path).length, readCheckpoint(join(scratch(), 'model'))?.variables.length];
    },
  },
  {
    name: 'saved-model',
    seeds: async () => [
      readFileSync(join(fixtureModel('strings').directory, 'saved_model.pb')).subarray(0, 60_000),
      readFileSync(join(KERAS, 'saved_model.pb')).subarray(0, 30_000),
    ],
    tokens: ['\x0a', '\x12', '\x1a', '\x22', '\x2a'],
    isRefusal: isPackagingError,
    read(bytes) {
      writeFileSync(join(scratch(), 'model', 'saved_model.pb'), bytes);
      return readSavedModel(join(scratch(), 'model')).metaGraphs?.length;
    },
  },
  {
    name: 'tar',
    seeds: async () => [tar('1/saved_model.pb', 'model'), tar('a/b/c', 'x'.repeat(600))],
    tokens: ['../', '/', '\0', 'ustar', '7777777', '2', 'L'],
    isRefusal: isPackagingError,
    read: (bytes) => unpack('.tar', bytes, extractArchive),
  },
  {
    name: 'zip',
    seeds: async () => [bytesOf(encodeNpz({ 'a/b': floats(2), c: strings }))],
    tokens: ['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', '../', '/'],
    isRefusal: isPackagingError,
    read: (bytes) => unpack('.zip', bytes, extractZip),
  },
  {
    name: 'images',
    seeds: pictures,
    tokens: MARKERS,
    isRefusal: isClientError,
    async read(bytes, random) {
      const options = {
        width: 8,
        height: 8,
        maxPixels: 1_000_000,
        channels: pick(random, ['rgb', 'bgr', 'gray'] as const),
      };
      return (await decodeImage(bytes, options)).data.length;
    },
  },
];

class Refused extends Error {}

/** What is said of a JPEG must be what libjpeg decodes. */
function readHeader(bytes: Buffer): string {
  const header = readJpegHeader(bytes);
  if (!header || header.width * header.height > 4_000_000) throw new Refused();
  const said = `${header.width} x ${header.height}`;
  const found = sizeByLibjpeg(bytes);
  if (found === undefined) throw new Refused();
  if (said !== found) throw new Error(`said ${said}, libjpeg found ${found}`);
  return said;
}

function sizeByLibjpeg(bytes: Buffer): string | undefined {
  try {
    const { width, height } = jpegTurbo.decompressSync(bytes, { format: jpegTurbo.FORMAT_GRAY });
    return `${width} x ${height}`;
  } catch {
    return undefined;
  }
}

function readHttp(bytes: Buffer, random: Random): number {
  let taken = 0;
  const reader = new ResponseReader({
    begin: () => undefined,
    room: () => undefined,
    filled: () => undefined,
    push: (piece) => {
      taken += piece.length;
    },
  });
  inPieces(bytes, random, (piece) => reader.push(piece));
  reader.end();
  return taken;
}

function readFrames(bytes: Buffer, random: Random): number {
  let frames = 0;
  const handler = {
    data: () => undefined,
    room: () => undefined,
    filled: () => undefined,
    frame: () => {
      frames += 1;
    },
  };
  const reader = new FrameReader(handler, 16_384);
  inPieces(bytes, random, (piece) => reader.push(piece));
  return frames;
}

/** As a socket would give them. */
function inPieces(bytes: Buffer, random: Random, take: (piece: Buffer) => void): void {
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random(2 * bytes.length);
    take(bytes.subarray(at, at + size));
    at += size;
  }
}

sharp.concurrency(1);
