/** What `invoke` shows to people: classes as bars, boxes as a list, tensors in a line each, else the text. */
import type { Answer, TypedTensor } from '@sagemaker-tfs/client';
import { jsonText } from '@sagemaker-tfs/tensors';
import {
  areShares,
  type Box,
  barOf,
  boxesOfJson,
  type Classes,
  classesOf,
  elementText,
  figure,
  type ScoredClass,
} from '../../../playground/src/index.ts';
import { ms } from '../output/print.ts';
import {
  fitted,
  flowed,
  lengthOf,
  type Style,
  shortBytes,
  wrapped,
  wrappedLine,
} from '../output/style.ts';
import { bar, roomForBars } from './bar.ts';

/** Classes, inputs, boxes, tensors and lines of text that are shown. */
const SHOWN = { classes: 5, rows: 10, boxes: 10, tensors: 20, lines: 20 };
/** Columns of a name before its bar, and of that of a tensor; the rest of a longer one stands below. */
const NAME = 24;
const TENSOR_NAME = 32;
/** Elements of a tensor at its line's end. */
const VALUES = 8;
/** Characters of a text in a tensor. */
const TEXT = 200;

/** The lines of an answer, each in the style's width. @param milliseconds that it took */
export function answerLines(answer: Answer, milliseconds: number, style: Style): string[] {
  const { status, contentType, customAttributes, bytes } = answer;
  const version = customAttributes['tfs-model-version'];
  const facts = [
    String(status),
    contentType.split(';', 1)[0] ?? '',
    shortBytes(bytes.length),
    `${ms(milliseconds)} ms`,
    ...(version ? [`version ${version}`] : []),
  ];
  const [first = '', ...rest] = flowed(facts, style.width - 2);
  const body = bodyLines(answer, style).flatMap((line) => wrappedLine(line, style.width - 2));
  return [`${style.good('✓')} ${first}`, ...[...rest, ...body].map((line) => `  ${line}`)];
}

function bodyLines(answer: Answer, style: Style): string[] {
  const json = answer.contentType.includes('json') ? attempt(() => answer.json()) : undefined;
  const boxes = json === undefined ? undefined : boxesOfJson(json);
  if (boxes) return boxLines(boxes);
  const tensors = attempt(() => answer.tensors());
  if (!tensors) return textLines(answer, style.width - 2);
  const classes = classesOf(tensors, []);
  return [
    ...(classes ? classLines(classes, style.width - 2) : []),
    ...(json === undefined
      ? tensorLines(tensors, dtypeOf, style.width - 2)
      : tensorLines(named(tensors, json), kindOf, style.width - 2)),
  ];
}

/** The classes of the only input; of several inputs the best class of each. */
function classLines({ rows, of }: Classes, width: number): string[] {
  if (rows === 1) return barLines(of(0), SHOWN.classes, width);
  const best = Array.from({ length: Math.min(rows, SHOWN.rows) }, (_, row) => of(row)[0]);
  const label = `${rows}`.length;
  const shown = best.flatMap((one, row) =>
    one ? [{ ...one, name: `${String(row + 1).padStart(label)}  ${one.name}` }] : [],
  );
  const rest = rows - shown.length;
  return [
    `best class of each of ${rows} inputs`,
    ...barLines(shown, SHOWN.rows, width),
    ...(rest > 0 ? [`… and ${rest} more inputs`] : []),
  ];
}

/** Classes with bars, as the playground draws them. */
function barLines(classes: readonly ScoredClass[], most: number, width: number): string[] {
  const shares = areShares(classes);
  const shown = classes.slice(0, most);
  const values = shown.map(({ score }) => (shares ? percent(score) : figure(score)));
  const name = Math.min(NAME, Math.max(...shown.map((one) => lengthOf(one.name))));
  const value = Math.max(...values.map((text) => text.length));
  const room = Math.max(0, Math.min(roomForBars(40), width - name - value - 4));
  const share = barOf(classes);
  const lines = shown.flatMap((one: ScoredClass, at) =>
    behindName(
      one.name,
      name,
      `${bar(share(one.score), room).padEnd(room)}  ${(values[at] as string).padStart(value)}`,
    ),
  );
  const rest = classes.length - shown.length;
  return rest > 0 ? [...lines, `… and ${rest} more`] : lines;
}

/** A line that begins with a name of at most `columns`; the rest of a longer one stands below. */
function behindName(name: string, columns: number, rest: string): string[] {
  const [first = '', ...more] = wrapped(name, columns);
  return [`${first.padEnd(columns)}  ${rest}`, ...more];
}

type Tensors = Readonly<Record<string, TypedTensor>>;

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Boxes, best first, with their corners as shares of the picture. */
function boxLines(boxes: readonly Box[]): string[] {
  if (boxes.length === 0) return ['nothing found'];
  const name = Math.min(NAME, Math.max(...boxes.map((box) => lengthOf(box.name))));
  const shown = boxes.slice(0, SHOWN.boxes);
  const lines = shown.flatMap((box) => {
    const corner = (top: number, left: number) => `${top.toFixed(3)},${left.toFixed(3)}`;
    const corners = `${corner(box.top, box.left)} to ${corner(box.bottom, box.right)}`;
    return behindName(box.name, name, `${percent(box.score).padStart(7)}  ${corners}`);
  });
  const rest = boxes.length - shown.length;
  const legend = 'corners: top,left to bottom,right, as shares of the picture';
  return [...lines, ...(rest > 0 ? [`… and ${rest} more`] : []), legend];
}

const dtypeOf = ({ dtype }: TypedTensor): string => dtype;

/** JSON does not tell a float32 from an int64: what it has. */
function kindOf({ dtype }: TypedTensor): string {
  if (dtype === 'string') return 'text';
  return dtype === 'bool' ? 'true/false' : 'numbers';
}

/** JSON does not name an only output: it stands under the name of the field. */
function named(tensors: Tensors, json: unknown): Tensors {
  const [only, ...more] = Object.keys(tensors);
  const field = Object.keys(json as object).find((key) => /^(?:predictions|outputs)$/.test(key));
  if (only !== 'output' || more.length > 0 || field === undefined) return tensors;
  return { [field]: tensors[only] as TypedTensor };
}

function tensorLines(
  tensors: Tensors,
  typeOf: (tensor: TypedTensor) => string,
  width: number,
): string[] {
  const all = Object.entries(tensors);
  const shown = all.slice(0, SHOWN.tensors);
  const name = Math.min(TENSOR_NAME, width, Math.max(0, ...shown.map(([key]) => lengthOf(key))));
  const lines = shown.flatMap(([key, tensor]) => {
    const type = `${typeOf(tensor)} [${tensor.shape.join(',')}]`;
    return behindName(key, name, `${type}  ${firstValues(tensor, width - name - type.length - 4)}`);
  });
  const rest = all.length - shown.length;
  return rest > 0 ? [...lines, `… and ${rest} more outputs`] : lines;
}

/** As many values as fit, each whole: a part of a number is another number. */
function firstValues(tensor: TypedTensor, width: number): string {
  const values =
    tensor.dtype === 'string'
      ? tensor.data
          .slice(0, VALUES)
          .map((bytes) => elementText(bytes, (text) => fitted(JSON.stringify(text), TEXT)))
      : Array.from<number | bigint, string>(tensor.data.slice(0, VALUES), (value) =>
          typeof value === 'bigint' ? String(value) : figure(value),
        );
  const text = () => values.join(' ') + (tensor.data.length > values.length ? ' …' : '');
  while (values.length > 1 && lengthOf(text()) > width) values.pop();
  return text();
}

/** The start of a text; of anything else, how to keep it. */
function textLines(answer: Answer, width: number): string[] {
  if (!/json|text|csv/.test(answer.contentType)) return ['not shown: keep it with --out FILE'];
  const parsed = answer.contentType.includes('json') ? attempt(() => answer.json()) : undefined;
  const text = parsed === undefined ? answer.text() : jsonText(parsed, 2);
  const lines = text.trimEnd().split('\n');
  const most = SHOWN.lines * width;
  const shown = lines
    .slice(0, SHOWN.lines)
    .flatMap((line) => wrappedLine(line.slice(0, most), width));
  const isWhole = lines.length <= SHOWN.lines && shown.length <= SHOWN.lines && text.length <= most;
  return isWhole ? shown : [...shown.slice(0, SHOWN.lines), '… and more: --out FILE keeps all'];
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
