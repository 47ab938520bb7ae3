/** A field for each feature of a tf.Example, for signatures that classify, regress or parse examples. */
import { useState } from 'preact/hooks';
import type { ExampleInput } from './description.ts';
import { Field, Named, problemNamed, SendButton } from './field.tsx';
import { type InputProps, messageFor, textsOf } from './payload.ts';
import type { Texts } from './request/source.ts';

const TITLE = 'example.json';

interface Props extends InputProps {
  readonly examples: ExampleInput;
  /** Key of the signature. */
  readonly signature: string;
}

/** The form; an empty field leaves its feature out, and features that the answer names are marked. */
export function ExampleForm(props: Props) {
  const { examples, signature, source, refused, busy, onSend, onNotSent } = props;
  const features = Object.entries(examples.features);
  const [values, setValues] = useState<Texts>(() => textsOf(source));
  const [problems, setProblems] = useState<Texts>({});
  const answered = messageFor(refused, TITLE);
  const submit = (event: Event) => {
    event.preventDefault();
    const found: Record<string, string> = {};
    const parts = features.flatMap(([name, { dtype }]) => {
      const text = (values[name] ?? '').trim();
      if (text === '') return [];
      const json = featureJson(text, dtype);
      if (json === undefined) found[name] = 'a number, or several with commas between';
      return json === undefined ? [] : [`${JSON.stringify(name)}: ${json}`];
    });
    setProblems(found);
    if (Object.keys(found).length > 0) return onNotSent();
    const text = `{"signature_name": ${JSON.stringify(signature)}, "examples": [{${parts.join(', ')}}]}`;
    const body = new TextEncoder().encode(text);
    onSend({
      body,
      contentType: 'application/json',
      title: TITLE,
      source: { tab: 'Tensors', texts: values },
    });
  };
  return (
    <form onSubmit={submit}>
      {features.map(([name, { dtype, count }]) => (
        <Field
          key={name}
          id={`feature-${name}`}
          label={<Named name={name} type={count === 1 ? dtype : `${dtype} × ${count}`} />}
          problem={problems[name] ?? problemNamed(answered, name)}
          value={values[name] ?? ''}
          onInput={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      <p class="quiet">Several values have commas between. An empty field is left out.</p>
      <SendButton busy={busy} text={examples.method === 'predict' ? 'Send' : examples.method} />
    </form>
  );
}

/** JSON of a feature's text. A float keeps a fraction: without one it would be a whole number. */
function featureJson(text: string, dtype: string): string | undefined {
  const parts = text.split(',').map((part) => part.trim());
  if (dtype === 'string') return JSON.stringify(parts.length === 1 ? text : parts);
  const isFloat = /float/.test(dtype);
  if (!parts.every((part) => (isFloat ? /^-?\d*\.?\d+(?:e[+-]?\d+)?$/i : /^-?\d+$/).test(part))) {
    return undefined;
  }
  const written = parts.map((part) => {
    const plain = part.replace(/^(-?)(?=\.)/, '$10');
    return isFloat && /^-?\d+$/.test(plain) ? `${plain}.0` : plain;
  });
  return written.length === 1 ? written[0] : `[${written.join(', ')}]`;
}
