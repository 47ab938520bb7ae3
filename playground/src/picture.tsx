/** Pictures, where the browser can show them: it knows fewer kinds than the runtime. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface Props {
  readonly src: string;
  readonly alt: string;
  readonly class?: string;
  /** What stands in its place where it cannot be shown. */
  readonly instead: ComponentChildren;
}

/** A picture by its address. */
export function Picture({ instead, alt, ...picture }: Props) {
  const [failed, setFailed] = useState(false);
  return failed ? instead : <img {...picture} alt={alt} onError={() => setFailed(true)} />;
}

/** A picture of the page's own, as its address stays valid while it is seen. */
export function Preview({
  blob,
  ...shown
}: Omit<Props, 'src' | 'class'> & { readonly blob: Blob }) {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url ? <Picture key={url} class="preview" src={url} {...shown} /> : null;
}
