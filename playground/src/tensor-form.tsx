/** A field for each input of the signature; sent as JSON in columns. */
import { useState } from 'preact/hooks';
import type { SignatureDescription } from './description.ts';
import { Field, Named, problemNamed, SendButton } from './field.tsx';
import { type InputProps, messageFor, textsOf } from './payload.ts';
import type { Texts } from './request/source.ts';
import { FILLS, firstText, jsonOf } from './request/values.ts';
import { typeText } from './signature-view.tsx';

const TITLE = 'tensors.json';

interface Props extends InputProps {
  readonly signature: SignatureDescription | undefined;
}

/** The form; inputs that the answer names are marked. */
export function TensorForm({ signature, source, refused, busy, onSend, onNotSent }: Props) {
  const inputs = Object.entries(signature?.inputs ?? {});
  const [values, setValues] = useState<Texts>(() => ({
    ...Object.fromEntries(inputs.map(([name, input]) => [name, firstText(input)])),
    ...textsOf(source),
  }));
  const [problems, setProblems] = useState<Texts>({});
  const hasNumbers = inputs.some(([, { dtype }]) => dtype !== 'string');
  const hasStrings = inputs.some(([, { dtype }]) => dtype === 'string');
  const answered = messageFor(refused, TITLE);
  const submit = (event: Event) => {
    event.preventDefault();
    const found: Record<string, string> = {};
    const parts = inputs.flatMap(([name, input]) => {
      const text = values[name] ?? '';
      if (text.trim() === '') return [];
      try {
        return [`${JSON.stringify(name)}: ${jsonOf(text, input)}`];
      } catch (problem) {
        found[name] = (problem as Error).message;
        return [];
      }
    });
    setProblems(found);
    if (Object.keys(found).length > 0) return onNotSent();
    const body = new TextEncoder().encode(`{"inputs": {${parts.join(', ')}}}`);
    onSend({
      body,
      contentType: 'application/json',
      title: TITLE,
      source: { tab: 'Tensors', texts: values },
    });
  };
  return (
    <form onSubmit={submit}>
      {inputs.map(([name, input]) => (
        <Field
          key={name}
          id={`in-${name}`}
          label={<Named name={name} type={typeText(input)} />}
          rows={3}
          problem={problems[name] ?? problemNamed(answered, name)}
          value={values[name] ?? ''}
          onInput={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      <p class="quiet">
        A JSON array; one value needs no brackets{hasStrings ? ', and one text no quotes' : ''}
        {hasNumbers ? `; of numbers also ${FILLS.join(', ')}` : ''}. An empty field is left out.
      </p>
      <SendButton busy={busy} />
    </form>
  );
}
