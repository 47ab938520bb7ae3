/** A body of JSON, at first the example that the handler declares. */
import { useState } from 'preact/hooks';
import type { DeclaredExample } from './description.ts';
import { Field, SendButton } from './field.tsx';
import type { InputProps } from './payload.ts';

interface Props extends InputProps {
  readonly example: DeclaredExample;
}

/** The text field. */
export function JsonInput({ example, source, refused, busy, onSend }: Props) {
  const [text, setText] = useState(source?.tab === 'JSON' ? source.text : example.text);
  const submit = (event: Event) => {
    event.preventDefault();
    onSend({
      body: new TextEncoder().encode(text),
      contentType: example.contentType,
      title: 'JSON',
      source: { tab: 'JSON', text },
    });
  };
  return (
    <form onSubmit={submit}>
      <Field
        id="json"
        label="Body"
        rows={8}
        problem={refused?.title === 'JSON' ? 'refused' : ''}
        value={text}
        onInput={setText}
      />
      <SendButton busy={busy} />
    </form>
  );
}
