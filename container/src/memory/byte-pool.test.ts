import { giveBytes, takeBytes, takeSharedBytes } from './byte-pool.ts';

const SIZE = 100_000;

describe('buffers that are used again', () => {
  it('gives the memory that came back to the next of the same size', () => {
    const first = takeBytes(SIZE);
    giveBytes(first);
    expect(takeBytes(SIZE).buffer).toBe(first.buffer);
  });

  it('never gives the same memory to two', () => {
    const first = takeBytes(SIZE);
    giveBytes(first);
    giveBytes(first);
    const [one, two] = [takeBytes(SIZE), takeBytes(SIZE)];
    expect(one.buffer).not.toBe(two.buffer);
  });

  it('gives exactly the size asked for', () => {
    giveBytes(takeBytes(SIZE));
    expect(takeBytes(SIZE + 1)).toHaveLength(SIZE + 1);
    expect(takeBytes(0)).toHaveLength(0);
  });

  it('gives shared memory to those alone who want it', () => {
    const shared = takeSharedBytes(SIZE);
    giveBytes(shared);
    expect(takeBytes(SIZE).buffer).not.toBe(shared.buffer);
    expect(takeSharedBytes(SIZE).buffer).toBe(shared.buffer);
    expect(takeSharedBytes(10)).toHaveLength(10);
  });

  it('leaves memory alone that is not its own, and parts of its own', () => {
    const foreign = new Uint8Array(SIZE + 2);
    giveBytes(foreign);
    expect(takeBytes(SIZE + 2).buffer).not.toBe(foreign.buffer);
    const own = takeBytes(SIZE + 3);
    giveBytes(own.subarray(1));
    expect(takeBytes(SIZE + 3).buffer).not.toBe(own.buffer);
  });

  it('keeps 128 MiB at most, the last that came back', () => {
    const size = 48 * 1024 * 1024;
    const three = [takeBytes(size), takeBytes(size), takeBytes(size)];
    for (const buffer of three) giveBytes(buffer);
    const again = [takeBytes(size), takeBytes(size), takeBytes(size)].map(({ buffer }) => buffer);
    expect(again).not.toContain(three[0]?.buffer);
    expect(again).toEqual(expect.arrayContaining([three[1]?.buffer, three[2]?.buffer]));
  });
});
