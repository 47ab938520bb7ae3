/** A pasted table; answers appear beside its rows. */
import { useState } from 'preact/hooks';
import type { SignatureDescription } from './description.ts';
import { Field, SendButton } from './field.tsx';
import { type InputProps, messageFor } from './payload.ts';
import { HEADER_LABEL } from './request/advice.ts';
import { cellsOf, headerOf } from './request/csv-table.ts';

const TITLE = 'table.csv';
/** In place of a header that is long. */
const NAMES = 'First line: each input’s name as often as it has values';

interface Props extends InputProps {
  readonly signature: SignatureDescription | undefined;
}

/** The text field. */
export function CsvInput({ signature, source, refused, busy, onSend, onNotSent }: Props) {
  const inputs = signature?.inputs ?? {};
  const isNamed = Object.keys(inputs).length > 1;
  const sent = source?.tab === 'CSV' ? source : undefined;
  const [text, setText] = useState(sent?.text ?? '');
  const [header, setHeader] = useState(sent?.header ?? isNamed);
  const [isMissing, setMissing] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    const rows = cellsOf(text);
    setMissing(rows.length === 0);
    if (rows.length === 0) return onNotSent();
    const contentType = header ? 'text/csv; header=present' : 'text/csv';
    const body = new TextEncoder().encode(text);
    const from = { tab: 'CSV', text, header } as const;
    onSend({ body, contentType, title: TITLE, table: rows, source: from });
  };
  return (
    <form onSubmit={submit}>
      <Field
        id="csv"
        label="Rows, one a line"
        rows={8}
        placeholder={isNamed ? `${headerOf(inputs) ?? NAMES}\n…` : '1.0,2.0\n3.0,4.0'}
        problem={isMissing ? 'there is no row' : problemOf(messageFor(refused, TITLE), text)}
        value={text}
        onInput={setText}
      />
      <label>
        <input
          type="checkbox"
          checked={header}
          onChange={(event) => setHeader(event.currentTarget.checked)}
        />
        {HEADER_LABEL}
      </label>
      <p>
        <SendButton busy={busy} />
      </p>
    </form>
  );
}

/** The line that the answer names, or that it is of the whole table; an empty text without an error. */
function problemOf(message: string | undefined, text: string): string {
  if (message === undefined) return '';
  const [, line] = /\bline (\d+)/.exec(message) ?? [];
  const row = text.split('\n')[Number(line) - 1];
  return row === undefined ? 'the server refuses it' : `line ${line}: ${row}`;
}
