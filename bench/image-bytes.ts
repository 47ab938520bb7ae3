/** What a client sends: the encoded picture, as bytes or in base64, or its pixels as JSON floats. */
import sharp from 'sharp';
import type { Bench, Findings, Row } from './lib/bench.ts';
import { columns } from './lib/columns.ts';
import { startReal } from './lib/front-ends.ts';
import type { BenchModel } from './lib/models.ts';
import { jpegOf } from './lib/pictures.ts';
import { measure } from './lib/serving.ts';

const FLOATS = 'JSON floats';
const JSON_TYPE = 'application/json';

export const imageBytes: Bench = {
  name: 'image-bytes',
  question: 'How large is a request, by the form that a picture is sent in?',
  async run(context): Promise<Findings> {
    const jpeg = await jpegOf(224, 224, 12_000);
    const { data } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
    const pixels = nested(data, 224, (value) => Math.fround(value / 127.5 - 1));
    const integers = nested(data, 224, (value) => value);
    const base64 = jpeg.toString('base64');
    const forms: readonly (readonly [string, BenchModel, string, Buffer])[] = [
      [FLOATS, 'mobilenet', JSON_TYPE, jsonBody([pixels])],
      ['JSON whole numbers', 'mobilenet-uint8', JSON_TYPE, jsonBody([integers])],
      [
        'JSON base64, decoded in the graph',
        'mobilenet-bytes',
        JSON_TYPE,
        jsonBody([{ b64: base64 }]),
      ],
      ['JPEG, decoded in the graph', 'mobilenet-bytes', 'application/x-image', jpeg],
      ['JPEG, decoded in the front end', 'mobilenet-uint8', 'application/x-image', jpeg],
    ];
    const rows: Row[] = [];
    const largest = (forms[0] as (typeof forms)[number])[3].length;
    for (const [name, model, type, body] of forms) {
      const frontEnd = await startReal(model);
      try {
        const request = { headers: { 'content-type': type }, body };
        const { seconds } = context;
        const { latency, cpuMilliseconds } = await measure(name, frontEnd, request, {
          inFlight: 1,
          seconds: seconds / 2,
          warmUpSeconds: seconds / 4,
        });
        rows.push({
          name,
          bytes: body.length,
          smaller: largest / body.length,
          p50: latency.p50,
          cpu: cpuMilliseconds,
        });
        context.log(`${name}: ${body.length} bytes, ${latency.p50.toFixed(1)} ms`);
      } finally {
        await frontEnd.stop();
      }
    }
    return {
      tables: [
        {
          title: `One 224x224 picture to MobileNetV2, one in flight (baseline: ${FLOATS})`,
          columns: columns({
            name: 'Form',
            bytes: 'Request bytes',
            smaller: 'Times smaller than the baseline',
            p50: 'P50 ms',
            cpu: 'Front-end CPU, ms a request',
          }),
          rows,
        },
      ],
      charts: [
        {
          title: 'Bytes of a request with one 224x224 picture',
          conditions:
            'Sizes of request bodies. Nothing is in flight: no process serves and no model computes.',
          unit: 'bytes',
          bars: rows.map(({ name, bytes }) => ({ name: String(name), value: Number(bytes) })),
        },
      ],
    };
  },
};

function jsonBody(instances: readonly unknown[]): Buffer {
  return Buffer.from(JSON.stringify({ instances }));
}

/** Interleaved pixels as rows of columns of channels. */
function nested(data: Buffer, width: number, convert: (value: number) => number): number[][][] {
  return Array.from({ length: data.length / 3 / width }, (_row, y) =>
    Array.from({ length: width }, (_column, x) =>
      Array.from({ length: 3 }, (_channel, channel) =>
        convert(data[(y * width + x) * 3 + channel] as number),
      ),
    ),
  );
}
