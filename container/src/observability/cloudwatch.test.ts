/** Lines of embedded metrics, as several processes write them to one pipe. */
import { type Logger, pino } from 'pino';
import { CloudWatchMetrics } from './cloudwatch.ts';
import type { RequestSample } from './metrics.ts';

/** A line as CloudWatch reads it. */
type Line = Record<string, number[]> & { Model: string };

function written(feed: (metrics: CloudWatchMetrics) => void): { texts: string[]; lines: Line[] } {
  const texts: string[] = [];
  const log = pino(
    { base: { pid: 4_194_304 }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (text: string) => texts.push(text) },
  ) as Logger;
  const metrics = new CloudWatchMetrics(log, 'SageMakerTensorFlowServing');
  feed(metrics);
  metrics.close();
  return { texts, lines: texts.map((text) => JSON.parse(text) as Line) };
}

/** A request with the longest numbers that there are. */
function sample(model: string | undefined, i: number): RequestSample {
  const ms = 3_599_999.123456789 - i / 7;
  return {
    requestId: `request-${i}`,
    model,
    version: '1',
    transport: 'grpc',
    contentType: 'application/json',
    status: 200 + (i % 4) * 100,
    requestBytes: i % 5 === 0 ? undefined : 1_073_741_823,
    responseBytes: 1_073_741_823,
    timings: { receive: ms, queue: ms, decode: ms, predict: ms, encode: ms },
  };
}

const MODELS = ['digits', 'm'.repeat(5000), '\u0001"\\é🙂'.repeat(100), undefined];

test.each(MODELS)('no line is longer than a pipe takes in one piece (model %#)', (model) => {
  const { texts, lines } = written((metrics) => {
    for (let i = 0; i < 1000; i++) metrics.finished(sample(model, i));
  });
  expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(4096);
  // And no request is lost, or counted twice.
  const total = (name: string) => lines.flatMap((line) => line[name] ?? []).length;
  expect(total('Invocations')).toBe(1000);
  expect(total('RequestBytes')).toBe(800);
  const codes = lines.flatMap((line) => line.Errors5xx ?? []);
  expect(codes.filter((code) => code === 1)).toHaveLength(250);
});

test('short values share a line, up to the 100 that CloudWatch takes', () => {
  const short = { receive: 0, queue: 0, decode: 1, predict: 2, encode: 1 };
  const { lines } = written((metrics) => {
    for (let i = 0; i < 250; i++) {
      metrics.finished({ ...sample('digits', 0), responseBytes: 9, timings: short });
    }
  });
  expect(lines.map((line) => line.Invocations?.length)).toEqual([100, 100, 50]);
});

test('times are rounded to the microsecond', () => {
  const { lines } = written((metrics) => metrics.finished(sample('digits', 1)));
  expect(lines[0]?.DecodeMs).toEqual([3_599_998.981]);
});
