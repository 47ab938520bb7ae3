/** What all forms are made of: a field that is marked if what is in it was refused, and the button that sends. */
import type { ComponentChildren } from 'preact';

interface FieldProps {
  readonly id: string;
  readonly label: ComponentChildren;
  /** What is wrong with the value; an empty text if nothing is. */
  readonly problem: string;
  /** Lines that are seen of a long text; without it, the text is one line. */
  readonly rows?: number;
  readonly placeholder?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/** Ctrl or Cmd with Enter presses the form's button: Enter alone is a line of the text. */
function sendByKey(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const { form } = event.currentTarget as HTMLTextAreaElement;
  form?.querySelector<HTMLButtonElement>('[type=submit]')?.click();
}

/** A text field with its label above and its problem below. */
export function Field({ id, label, problem, rows, placeholder, value, onInput }: FieldProps) {
  const Control = rows ? 'textarea' : 'input';
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Control
        id={id}
        rows={rows}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        aria-invalid={problem !== ''}
        aria-describedby={problem ? `${id}-wrong` : undefined}
        value={value}
        onKeyDown={sendByKey}
        onInput={(event: { readonly currentTarget: { readonly value: string } }) =>
          onInput(event.currentTarget.value)
        }
      />
      {problem ? (
        <p class="problem" id={`${id}-wrong`}>
          {problem}
        </p>
      ) : null}
    </div>
  );
}

/** A name and, as code, what its values are. */
export function Named({ name, type }: { readonly name: string; readonly type: string }) {
  return (
    <>
      {name} <code>{type}</code>
    </>
  );
}

/** Submits the form around it. */
export function SendButton({ busy, text }: { readonly busy: boolean; readonly text?: string }) {
  return (
    <button type="submit" class="main" disabled={busy}>
      {busy ? 'Sending …' : (text ?? 'Send')}
    </button>
  );
}

/** The problem of a value that the answer's message speaks of by name; otherwise an empty text. */
export function problemNamed(message: string | undefined, name: string): string {
  const quoted = new RegExp(`['"\`]${name.replace(/\W/g, '\\$&')}['"\`]`);
  return message !== undefined && quoted.test(message) ? 'the answer names this input' : '';
}
