/** A button that copies a text. */
import { useState } from 'preact/hooks';

/** Says for a moment that it has. */
export function CopyButton({ text }: { readonly text: () => string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text()).catch(() => undefined);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" onClick={copy}>
      {copied ? 'Copied' : 'Copy'}
    </button>
  );
}
