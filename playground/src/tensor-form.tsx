/** A field for each input of the signature; sent as JSON in columns. */
import { useState } from 'preact/hooks';
import type { SignatureDescription } from './description.ts';
import type { InputProps } from './payload.ts';
import { FILLS, firstText, jsonOf } from './request/values.ts';
import { shapeText } from './signature-view.tsx';

interface Props extends InputProps {
  readonly signature: SignatureDescription | undefined;
  /** Message of the last answer: the inputs that it names are marked. */
  readonly error: string | undefined;
}

/** The form. */
export function TensorForm({ signature, error, busy, onSend }: Props) {
  const inputs = Object.entries(signature?.inputs ?? {});
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(inputs.map(([name, input]) => [name, firstText(input)])),
  );
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
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
    if (Object.keys(found).length > 0) return;
    const body = new TextEncoder().encode(`{"inputs": {${parts.join(', ')}}}`);
    onSend({ body, contentType: 'application/json', title: 'tensors.json' });
  };
  return (
    <form onSubmit={submit}>
      {inputs.map(([name, input]) => {
        const problem = problems[name] ?? (names(error, name) ? 'the answer names this input' : '');
        return (
          <div class="field" key={name}>
            <label for={`in-${name}`}>
              {name}{' '}
              <code>
                {input.dtype} {shapeText(input.shape)}
              </code>
            </label>
            <textarea
              id={`in-${name}`}
              rows={3}
              spellcheck={false}
              aria-invalid={problem !== ''}
              aria-describedby={problem ? `wrong-${name}` : undefined}
              value={values[name] ?? ''}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
            {problem ? (
              <p class="problem" id={`wrong-${name}`}>
                {problem}
              </p>
            ) : null}
          </div>
        );
      })}
      <p class="quiet">A JSON array, or {FILLS.join(', ')}. An empty field is left out.</p>
      <button type="submit" class="main" disabled={busy}>
        {busy ? 'Sending …' : 'Send'}
      </button>
    </form>
  );
}

/** True where a message speaks of the input by name. */
function names(message: string | undefined, input: string): boolean {
  return (
    message !== undefined && new RegExp(`['"\`]${input.replace(/\W/g, '\\$&')}['"\`]`).test(message)
  );
}
