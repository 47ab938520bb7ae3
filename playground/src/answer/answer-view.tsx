/** An answer in every form that suits it. */
import type { Answer, TypedTensor } from '@sagemaker-tfs/client';
import { useMemo } from 'preact/hooks';
import { CopyButton } from '../copy-button.tsx';
import type { PlaygroundDescription, SignatureDescription } from '../description.ts';
import { adviceFor } from '../request/advice.ts';
import type { Outcome } from '../request/ask.ts';
import { Bars } from './bars-view.tsx';
import { type Binary, binaryOf, sizeText } from './binary.ts';
import { BinaryView } from './binary-view.tsx';
import { type Box, boxesOfJson, boxesOfTensors } from './boxes.ts';
import { BoxesView } from './boxes-view.tsx';
import { classesOf, classesOfResults } from './classes.ts';
import { readableJson } from './readable-json.ts';
import { fitsTable, TableView } from './table-view.tsx';
import { Tensors } from './tensor-view.tsx';

/** Characters of a text answer that are shown. */
const SHOWN = 20_000;

interface Props {
  readonly outcome: Outcome;
  readonly signature: SignatureDescription | undefined;
  readonly description: PlaygroundDescription;
}

/** An answer, or the error with what to do. */
export function AnswerView({ outcome, signature, description }: Props) {
  const { error, answer, request } = outcome;
  const read = useMemo(() => readAnswer(outcome, signature), [outcome]);
  if (error) {
    const inputs = Object.keys(signature?.inputs ?? {}).length;
    const advice = adviceFor({ ...error, source: request.source, inputs });
    return <ErrorView error={error} advice={advice} />;
  }
  if (!answer) return null;
  const { tensors, json } = read;
  const { labels } = description;
  const ownBoxes = boxesOfJson(json);
  const boxes: Box[] | undefined = ownBoxes ?? boxesOfTensors(tensors, labels);
  const classes = boxes ? undefined : (classesOfResults(json) ?? classesOf(tensors, labels));
  const table = request.table && fitsTable(request.table, tensors) ? request.table : undefined;
  const file = Object.keys(tensors).length === 0 ? fileOf(answer) : undefined;
  const isText = /json|csv|text/.test(answer.contentType);
  return (
    <>
      <Facts outcome={outcome} />
      {table ? <TableView rows={table} tensors={tensors} /> : null}
      {boxes ? (
        <BoxesView
          boxes={boxes}
          picture={request.picture}
          frame={request.frame ?? (ownBoxes ? null : (signature?.picture ?? null))}
          minScore={ownBoxes ? description.minScore : null}
        />
      ) : null}
      {classes && !table ? <Bars {...classes} /> : null}
      <Tensors tensors={tensors} seen={table ? Object.keys(tensors) : (classes?.outputs ?? [])} />
      {file ? <BinaryView {...file} bytes={answer.bytes} name="answer" /> : null}
      {isText ? (
        <details open={!boxes && !classes && Object.keys(tensors).length === 0}>
          <summary>Raw answer</summary>
          <RawAnswer text={answer.text()} isJson={json !== undefined} />
        </details>
      ) : null}
    </>
  );
}

function Facts({ outcome: { answer, milliseconds } }: { readonly outcome: Outcome }) {
  const version = answer?.customAttributes['tfs-model-version'];
  return (
    <p class="facts" data-testid="facts">
      <b>{answer?.status}</b> · {answer?.contentType} · {sizeText(answer?.bytes.length ?? 0)} ·{' '}
      {milliseconds.toFixed(1)} ms{version ? ` · version ${version}` : ''}
    </p>
  );
}

interface ErrorProps {
  readonly error: NonNullable<Outcome['error']>;
  readonly advice: string | undefined;
}

/** The error with its code, its message and what to do. */
function ErrorView({ error, advice }: ErrorProps) {
  return (
    <div class="error" role="alert">
      <p>
        <b>{error.code}</b>
        {error.status ? <span class="quiet"> · HTTP {error.status}</span> : null}
      </p>
      <p class="message">{error.message}</p>
      {advice ? <p class="advice">→ {advice}</p> : null}
    </div>
  );
}

/** What a handler answers beside tensors and text. A picture is what its media type or its bytes say. */
function fileOf({ contentType, bytes }: Answer): Binary | undefined {
  const [mediaType = ''] = contentType.split(';');
  if (mediaType.startsWith('image/')) return { kind: mediaType.slice(6).toUpperCase(), mediaType };
  if (bytes.length === 0 || /json|csv|text/.test(contentType)) return undefined;
  return binaryOf(bytes) ?? { kind: 'text', mediaType };
}

interface ReadAnswer {
  readonly tensors: Readonly<Record<string, TypedTensor>>;
  readonly json: unknown;
}

/** The text; of JSON with numbers that are easy to read. */
function RawAnswer({ text, isJson }: { readonly text: string; readonly isJson: boolean }) {
  const first = text.slice(0, SHOWN);
  const shown = isJson ? readableJson(first) : first;
  return (
    <>
      <div class="row">
        <span class="quiet">
          {isJson ? 'At most 6 digits of a fraction are shown. ' : ''}
          {text.length > SHOWN ? `The first ${SHOWN.toLocaleString('en')} characters. ` : ''}
        </span>
        <CopyButton text={() => text} />
      </div>
      <pre>{shown}</pre>
    </>
  );
}

/** What can be read of it; a handler may answer anything. */
function readAnswer({ answer }: Outcome, signature: SignatureDescription | undefined): ReadAnswer {
  if (!answer) return { tensors: {}, json: undefined };
  const json = /json/.test(answer.contentType) ? attempt(() => answer.json()) : undefined;
  const regressed = valuesOfResults(json);
  if (regressed) return { json, tensors: { results: regressed } };
  const dtypes = Object.fromEntries(
    Object.entries(signature?.outputs ?? {}).map(([name, { dtype }]) => [name, dtype]),
  ) as Parameters<typeof answer.tensors>[0];
  const tensors =
    attempt(() => answer.tensors(withOnly(dtypes, signature))) ??
    attempt(() => answer.tensors()) ??
    {};
  return { json, tensors: boxesOfJson(json) ? {} : tensors };
}

/** The values of a regression, `{"results": [5.5]}`. */
function valuesOfResults(answer: unknown): TypedTensor | undefined {
  const results = (answer as { results?: unknown } | null)?.results;
  if (!Array.isArray(results) || !results.every((value) => typeof value === 'number')) return;
  return { dtype: 'float32', shape: [results.length], data: Float32Array.from(results) };
}

/** JSON does not name an only output. */
function withOnly<T extends object | undefined>(
  dtypes: T,
  signature: SignatureDescription | undefined,
) {
  const [only, ...more] = Object.values(signature?.outputs ?? {});
  return only && more.length === 0 ? ({ ...dtypes, output: only.dtype } as T) : dtypes;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
