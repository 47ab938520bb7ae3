/** The lines that `serve` shows to people: what is served, and each request. */
import type { Manifest } from '@sagemaker-tfs/manifest';
import {
  callableSignatures,
  hasRawPixels,
  type InspectReport,
  pictureInput,
  pictureText,
  type SignatureReport,
  servedGraph,
  signatureText,
} from '@sagemaker-tfs/model-packaging';
import { ms } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { behind, flowed, type Style, shortBytes, wrappedLine } from '../output/style.ts';
import type { Exchange } from '../playground/exchange.ts';
import type { RunningRuntime } from '../serving/runtime-process.ts';

const SERVERS: Readonly<Record<RunningRuntime['modelServer']['kind'], string>> = {
  'tensorflow-serving': 'TensorFlow Serving',
  'local-model-server': 'local stand-in',
  'in-process': 'in process',
};

/**
 * What is served: a line for each model, its inputs and outputs, and what is done with a picture.
 * @param nameOf what to call a model
 * @param manifest of the package that is served
 */
export function readyLines(
  { models }: InspectReport,
  nameOf: (name: string) => string,
  manifest: Manifest | undefined,
  { modelServer, startMilliseconds }: Pick<RunningRuntime, 'modelServer' | 'startMilliseconds'>,
  style: Style,
): string[] {
  return models.flatMap(({ name, versions }) => {
    const graph = servedGraph(versions.at(-1));
    const facts = [
      `${nameOf(name)} v${versions.map(({ version }) => version).join(', v')}`,
      ...(graph?.tensorflowVersion ? [`saved by TensorFlow ${graph.tensorflowVersion}`] : []),
      SERVERS[modelServer.kind],
      `ready in ${(startMilliseconds / 1000).toFixed(1)} s`,
    ];
    const signatures = callableSignatures(graph);
    const [first = '', ...rest] = flowed(facts, style.width - 2);
    return [
      `${style.good('✓')} ${first}`,
      ...rest.map((line) => `  ${line}`),
      ...signatures
        .flatMap(([key, signature]) => [
          ...signatureText(key, signature, signatures.length),
          ...pictureLines(key, signature, manifest),
        ])
        .flatMap((line) => wrappedLine(line, style.width)),
    ];
  });
}

/** What the input gets of a picture, unless a handler may read it; and what helps if the model was trained on other values. */
function pictureLines(
  key: string,
  signature: SignatureReport,
  manifest: Manifest | undefined,
): string[] {
  const picture = manifest?.handler
    ? undefined
    : pictureInput(key, signature, manifest?.preprocess);
  if (!picture || picture.bytes) return [];
  const line = `  pic  ${picture.input}: ${pictureText(picture)}`;
  const isRaw = manifest?.preprocess === undefined && hasRawPixels(picture);
  return isRaw ? [line, '       Trained on 0 to 1 or others? See package --preprocess.'] : [line];
}

/** Columns that a request's type, sizes and time take; with fewer the type is left out. */
const NARROW = 65;
const CODE_COLUMNS = 10;

/** `14:02:11  200  image/jpeg  1 kB→0.3 kB  5.2 ms`, or an error with its code and whole message: what to do is said last. */
export function exchangeLine(exchange: Exchange, style: Style): string {
  const { at, status, contentType, requestBytes, responseBytes, milliseconds, error } = exchange;
  const time = at.toTimeString().slice(0, 8);
  const isNarrow = style.width < NARROW;
  const mark = status >= 400 ? style.bad : style.good;
  const start = `${style.quiet(time)}  ${mark(String(status))}  `;
  if (error) {
    const code = `${printable(error.code || exchange.path).padEnd(CODE_COLUMNS)}  `;
    return behind(start + code, error.message.split('\n')[0] ?? '', style.width).join('\n');
  }
  const facts = [
    ...(isNarrow
      ? []
      : [(contentType.split(';', 1)[0] || `${exchange.method} ${exchange.path}`).padEnd(22)]),
    `${shortBytes(requestBytes)}→${shortBytes(responseBytes)}`.padEnd(isNarrow ? 0 : 16),
    `${ms(milliseconds)} ms`,
  ].join('  ');
  return behind(start, facts, style.width).join('\n');
}
