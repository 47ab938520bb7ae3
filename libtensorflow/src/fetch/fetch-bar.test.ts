import { PassThrough } from 'node:stream';
import { progressBar } from './fetch-bar.ts';

/** A stream like stderr, on a terminal or not. */
function stream(isTTY: boolean): { stream: NodeJS.WriteStream; printed: () => string } {
  const through = new PassThrough();
  const chunks: Buffer[] = [];
  through.on('data', (chunk: Buffer) => chunks.push(chunk));
  const terminal = { isTTY, columns: 80, cursorTo: () => true, clearLine: () => true };
  return {
    stream: Object.assign(through, terminal) as unknown as NodeJS.WriteStream,
    printed: () => Buffer.concat(chunks).toString('utf8'),
  };
}

it('prints a line now and then where there is no terminal', () => {
  const { stream: output, printed } = stream(false);
  const bar = progressBar(output);
  jest.useFakeTimers();
  for (let done = 0; done <= 100; done++) {
    bar.onProgress({ stage: 'download', done: done * 1e6, total: 100e6 });
    jest.advanceTimersByTime(200);
  }
  jest.useRealTimers();
  bar.onProgress({ stage: 'verify', done: 100e6, total: 100e6 });
  bar.stop();
  expect(printed().split('\n')).toEqual([
    '  Downloading TensorFlow 25/100 MB',
    '  Downloading TensorFlow 50/100 MB',
    '  Downloading TensorFlow 75/100 MB',
    '  Downloading TensorFlow 100/100 MB',
    '  Checking the download  100/100 MB',
    '',
  ]);
});

it('draws a bar for each stage on a terminal, and leaves SIGINT to the program', () => {
  const listeners = process.listenerCount('SIGINT');
  const { stream: output, printed } = stream(true);
  const bar = progressBar(output);
  bar.onProgress({ stage: 'download', done: 50e6, total: 100e6 });
  expect(process.listenerCount('SIGINT')).toBe(listeners);
  bar.onProgress({ stage: 'unpack', done: 10e6, total: 200e6 });
  bar.stop();
  expect(printed()).toContain('Downloading TensorFlow');
  expect(printed()).toContain('50% 50/100 MB');
  expect(printed()).toContain('Unpacking the library');
});

it('prints nothing where nothing was fetched', () => {
  const { stream: output, printed } = stream(true);
  progressBar(output).stop();
  expect(printed()).toBe('');
});
