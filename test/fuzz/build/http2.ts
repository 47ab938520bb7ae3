/** What a server of HTTP/2 (RFC 9113) and HPACK (RFC 7541) may say, with a wrong field now and then. */
import { Flag, FrameType } from '@sagemaker-tfs/container/transport';
import { pick, type Random } from '../random.ts';
import { slip, slipTo, someBytes, u8, u16be, u32be } from './bytes.ts';

const NAMES = [
  ':status',
  'grpc-status',
  'grpc-message',
  'content-type',
  'x-a',
  'grpc-encoding',
  '',
];
const VALUES = [
  '200',
  '0',
  '13',
  'application/grpc',
  'identity',
  'gzip',
  '%41',
  '',
  'x'.repeat(300),
];
/** "www.example.com", "no-cache" and "private", as appendix C of RFC 7541 has them; and one that is cut short. */
const HUFFMAN = ['f1e3c2e5f23a6ba0ab90f4ff', 'a8eb10649cbf', 'aec3771a4b', 'ffff'];

/** Section 5.1 of RFC 7541. */
function integer(random: Random, value: number, prefix: number, first: number): Buffer {
  const right = slip(random, value);
  const most = 2 ** prefix - 1;
  if (right < most) return u8(first | right);
  const bytes = [first | most];
  let rest = right - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

function text(random: Random, value: string): Buffer {
  if (random(6) === 0) {
    const bytes = Buffer.from(pick(random, HUFFMAN), 'hex');
    return Buffer.concat([integer(random, bytes.length, 7, 0x80), bytes]);
  }
  return Buffer.concat([integer(random, value.length, 7, 0), Buffer.from(value, 'latin1')]);
}

function field(random: Random, name: string, value: string): Buffer {
  const [prefix, first] = pick(random, [
    [6, 0x40],
    [4, 0],
    [4, 0x10],
  ] as const);
  return Buffer.concat([
    integer(random, 0, prefix, first),
    text(random, name),
    text(random, value),
  ]);
}

/** A block that holds the fields, and others around them. */
export function headerBlock(
  random: Random,
  fields: readonly (readonly [string, string])[],
): Buffer {
  const parts = fields.map(([name, value]) => field(random, name, value));
  for (let more = random(3) ? 0 : random(4); more > 0; more--) {
    parts.splice(random(parts.length + 1), 0, otherField(random));
  }
  const update = random(8) ? [] : [integer(random, pick(random, [0, 30, 4096]), 5, 0x20)];
  return Buffer.concat([...update, ...parts]);
}

function otherField(random: Random): Buffer {
  if (random(3) === 0) return integer(random, 1 + random(63), 7, 0x80);
  if (random(3)) return field(random, pick(random, NAMES), pick(random, VALUES));
  return Buffer.concat([
    integer(random, 1 + random(61), 6, 0x40),
    text(random, pick(random, VALUES)),
  ]);
}

/** Flag, stream and length of a frame. Any of them may be wrong. */
function frameOf(
  random: Random,
  type: number,
  flags: number,
  stream: number,
  payload: Buffer,
): Buffer {
  const length = slip(random, payload.length);
  return Buffer.concat([
    u8(length >>> 16),
    u16be(length),
    u8(slipTo(random, type, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255])),
    u8(slip(random, flags)),
    u32be(slipTo(random, stream, [0, 1, 2, 3, 7, 2 ** 31 - 1, 2 ** 31 + 1])),
    payload,
  ]);
}

const setting = (random: Random): Buffer =>
  Buffer.concat([
    u16be(slip(random, 1 + random(6))),
    u32be(pick(random, [0, 1, 100, 16_384, 65_535, 2 ** 24 - 1, 2 ** 31 - 1, 2 ** 32 - 1])),
  ]);

function settings(random: Random): Buffer {
  // Empty is what says that all stays as it is.
  const entries = Array.from({ length: random(3) ? 0 : random(3) }, () => setting(random));
  return frameOf(random, FrameType.SETTINGS, 0, 0, Buffer.concat(entries));
}

function headers(
  random: Random,
  stream: number,
  fields: readonly (readonly [string, string])[],
  last: boolean,
): Buffer {
  const block = headerBlock(random, fields);
  const end = last ? Flag.END_STREAM : 0;
  if (random(6) === 0) {
    const half = Math.ceil(block.length / 2);
    return Buffer.concat([
      frameOf(random, FrameType.HEADERS, end, stream, block.subarray(0, half)),
      frameOf(random, FrameType.CONTINUATION, Flag.END_HEADERS, stream, block.subarray(half)),
    ]);
  }
  const priority = random(10) === 0;
  const body = priority ? Buffer.concat([u32be(0), u8(16), block]) : block;
  const flags = Flag.END_HEADERS | end | (priority ? Flag.PRIORITY : 0);
  return padded(random, FrameType.HEADERS, flags, stream, body);
}

function padded(...unpadded: Parameters<typeof frameOf>): Buffer {
  const [random, type, flags, stream, payload] = unpadded;
  if (random(8)) return frameOf(...unpadded);
  const pad = random(30);
  const body = Buffer.concat([u8(slip(random, pad)), payload, Buffer.alloc(pad)]);
  return frameOf(random, type, flags | Flag.PADDED, stream, body);
}

/** A message of gRPC in one to three DATA frames. */
function data(random: Random, stream: number, message: Buffer): Buffer {
  const whole = Buffer.concat([u8(slip(random, 0)), u32be(slip(random, message.length)), message]);
  const at = random(3) ? whole.length : random(whole.length + 1);
  return Buffer.concat([
    padded(random, FrameType.DATA, 0, stream, whole.subarray(0, at)),
    ...(at < whole.length ? [padded(random, FrameType.DATA, 0, stream, whole.subarray(at))] : []),
  ]);
}

function aside(random: Random): Buffer {
  const number = u32be(slip(random, random(2) ? 1 : 65_536));
  switch (random(6)) {
    case 0:
      return frameOf(random, FrameType.PING, random(2), 0, someBytes(random, slip(random, 8) % 64));
    case 1:
      return frameOf(random, FrameType.WINDOW_UPDATE, 0, random(2), number);
    case 2:
      return frameOf(random, FrameType.RST_STREAM, 0, 1, number);
    case 3:
      return frameOf(
        random,
        FrameType.GOAWAY,
        0,
        0,
        Buffer.concat([u32be(slip(random, 1)), number]),
      );
    case 4:
      return frameOf(random, FrameType.PUSH_PROMISE, Flag.END_HEADERS, 1, u32be(2));
    default:
      return settings(random);
  }
}

/** What a server says to one call, on stream 1. */
export function serverBytes(random: Random, message: Buffer): Buffer {
  const status = slipTo(random, '0', ['13', '', 'x', '-1', '99']);
  const parts = [
    settings(random),
    frameOf(random, FrameType.SETTINGS, Flag.ACK, 0, Buffer.alloc(0)),
    headers(
      random,
      1,
      [
        [':status', slipTo(random, '200', ['500', '1', ''])],
        ['content-type', 'application/grpc'],
      ],
      random(24) === 0,
    ),
    data(random, 1, message),
    headers(
      random,
      1,
      [
        ['grpc-status', status],
        ['grpc-message', slipTo(random, 'ok', ['%', '%zz', '%ff'])],
      ],
      random(16) !== 0,
    ),
  ];
  for (let more = random(3); more > 0; more--)
    parts.splice(1 + random(parts.length), 0, aside(random));
  return Buffer.concat(random(16) ? parts : parts.toSpliced(random(parts.length), 1));
}
