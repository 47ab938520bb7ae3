/** A pasted table; answers appear beside its rows. */
import { useState } from 'preact/hooks';
import type { SignatureDescription } from './description.ts';
import type { InputProps } from './payload.ts';
import { cellsOf } from './request/csv-table.ts';

interface Props extends InputProps {
  readonly signature: SignatureDescription | undefined;
}

/** The text field. */
export function CsvInput({ signature, busy, onSend }: Props) {
  const names = Object.keys(signature?.inputs ?? {});
  const [text, setText] = useState('');
  const [header, setHeader] = useState(names.length > 1);
  const submit = (event: Event) => {
    event.preventDefault();
    const rows = cellsOf(text);
    if (rows.length === 0) return;
    const contentType = header ? 'text/csv; header=present' : 'text/csv';
    onSend({ body: new TextEncoder().encode(text), contentType, title: 'table.csv', table: rows });
  };
  return (
    <form onSubmit={submit}>
      <div class="field">
        <label for="csv">Rows, one a line</label>
        <textarea
          id="csv"
          rows={8}
          spellcheck={false}
          placeholder={names.length > 1 ? `${names.join(',')}\n…` : '1.0,2.0\n3.0,4.0'}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <label>
        <input
          type="checkbox"
          checked={header}
          onChange={(event) => setHeader(event.currentTarget.checked)}
        />
        The first line has the names of the inputs
      </label>
      <p>
        <button type="submit" class="main" disabled={busy}>
          {busy ? 'Sending …' : 'Send'}
        </button>
      </p>
    </form>
  );
}
