import { type FrameHandler, FrameReader, Http2ProtocolError } from './frame-reader.ts';
import { Flag, FrameType, frame } from './frames.ts';

/** Writes down what the reader says, pieces of content joined; has a room for stream 3 alone. */
function recorder() {
  const events: string[] = [];
  const content = new Map<number, string>();
  const room = Buffer.alloc(200_000);
  let used = 0;
  const add = (stream: number, text: string) =>
    content.set(stream, (content.get(stream) ?? '') + text);
  const handler: FrameHandler = {
    data: (stream, piece) => {
      if (stream === 3) used += piece.copy(room, used);
      add(stream, piece.toString('latin1'));
    },
    room: (stream) => (stream === 3 ? room.subarray(used) : undefined),
    filled: (stream, bytes) => {
      add(stream, room.toString('latin1', used, used + bytes));
      used += bytes;
    },
    frame: ({ type, flags, stream }, payload) =>
      events.push(`${type}/${flags}/${stream}: ${payload.toString('latin1')}`),
  };
  return { handler, events, content };
}

const data = (stream: number, text: string, flags = 0) =>
  frame({ type: FrameType.DATA, flags, stream }, Buffer.from(text, 'latin1'));

const SETTINGS = frame({ type: FrameType.SETTINGS, flags: 0, stream: 0 }, Buffer.alloc(0));

const BYTES = Buffer.concat([
  SETTINGS,
  frame({ type: FrameType.HEADERS, flags: Flag.END_HEADERS, stream: 1 }, Buffer.from('headers')),
  data(1, 'first '),
  data(1, ''),
  data(1, '\x03second\0\0\0', Flag.PADDED),
  data(1, '\x02\0\0', Flag.PADDED | Flag.END_STREAM),
  frame({ type: 99, flags: 7, stream: 5 }, Buffer.from('unknown')),
]);

const EVENTS = [
  '4/0/0: ',
  '1/4/1: headers',
  '0/0/1: ',
  '0/0/1: ',
  `0/${Flag.PADDED}/1: `,
  `0/${Flag.PADDED | Flag.END_STREAM}/1: `,
  '99/7/5: unknown',
];

describe('frames cut from a stream of bytes', () => {
  test.each([1, 2, 7, 9, 10, 1000])('in pieces of %i bytes', (size) => {
    const { handler, events, content } = recorder();
    const reader = new FrameReader(handler, 16_384);
    for (let at = 0; at < BYTES.length; at += size) reader.push(BYTES.subarray(at, at + size));
    expect(events).toEqual(EVENTS);
    expect(content.get(1)).toBe('first second');
  });

  test('the rest of a large frame can be read to its place', () => {
    const { handler, events, content } = recorder();
    const reader = new FrameReader(handler, 200_000);
    const text = 'x'.repeat(100_000);
    const bytes = data(3, text);
    reader.push(Buffer.concat([SETTINGS, bytes.subarray(0, 1000)]));
    for (let at = 1000; ; ) {
      const room = reader.directRoom()?.subarray(0, 30_000);
      if (!room) {
        reader.push(bytes.subarray(at));
        break;
      }
      at += bytes.copy(room, 0, at);
      reader.directFilled(room.length);
    }
    expect(events).toEqual(['4/0/0: ', '0/0/3: ']);
    expect(content.get(3)).toBe(text);
  });

  test('a small rest, another stream and anything but DATA have no place of their own', () => {
    const { handler } = recorder();
    const reader = new FrameReader(handler, 200_000);
    expect(reader.directRoom()).toBeUndefined();
    reader.push(SETTINGS);
    reader.push(data(3, 'x'.repeat(100)).subarray(0, 50));
    expect(reader.directRoom()).toBeUndefined();
    reader.push(data(3, 'x'.repeat(100)).subarray(50));
    reader.push(data(1, 'x'.repeat(100_000)).subarray(0, 50));
    expect(reader.directRoom()).toBeUndefined();
  });

  test('what is not HTTP/2 is refused', () => {
    const { handler } = recorder();
    const reader = new FrameReader(handler, 16_384);
    expect(() => reader.push(Buffer.from('HTTP/1.1 400 Bad Request'))).toThrow(Http2ProtocolError);
  });

  test('a frame longer than agreed is refused', () => {
    const { handler } = recorder();
    const reader = new FrameReader(handler, 16_384);
    reader.push(SETTINGS);
    expect(() => reader.push(data(1, 'x'.repeat(16_385)))).toThrow(Http2ProtocolError);
  });

  test('a header on a stream that is not known is refused before its payload is waited for', () => {
    const { handler } = recorder();
    const known = { ...handler, knows: (stream: number) => stream <= 1 };
    const reader = new FrameReader(known, 200_000);
    reader.push(SETTINGS);
    reader.push(data(1, 'x'));
    expect(() => reader.push(data(3, 'x'.repeat(1000)).subarray(0, 9))).toThrow(Http2ProtocolError);
  });

  test('padding longer than its frame is refused', () => {
    const { handler } = recorder();
    const reader = new FrameReader(handler, 16_384);
    reader.push(SETTINGS);
    expect(() => reader.push(data(1, '\x09ab', Flag.PADDED))).toThrow(Http2ProtocolError);
  });
});
