/** The request as code, to take along. */
import { useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import type { PageRequest } from './request/ask.ts';
import { inlineText, LANGUAGES, type Language, snippet } from './request/snippets.ts';
import { saveFile } from './save-file.ts';

/** What asks no address but an endpoint. */
const DEPLOYED: ReadonlySet<Language> = new Set(['boto3', 'aws CLI']);

/** One language at a time, with a button that copies. */
export function Snippets({ request }: { readonly request: PageRequest }) {
  const [language, setLanguage] = useState<Language>('curl');
  const code = snippet(language, request, location.origin);
  const isInline = inlineText(request) !== undefined;
  return (
    <details open>
      <summary>As code</summary>
      <div class="row">
        <label>
          Language
          <select
            value={language}
            onChange={(event) => setLanguage(event.currentTarget.value as Language)}
          >
            {LANGUAGES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <span>
          {isInline ? null : (
            <button type="button" onClick={() => saveFile(request.title, request.body)}>
              Save body
            </button>
          )}{' '}
          <CopyButton text={() => code} />
        </span>
      </div>
      {DEPLOYED.has(language) ? (
        <p class="quiet">Asks an endpoint on SageMaker: put its name in.</p>
      ) : null}
      {isInline ? null : (
        <p class="quiet">
          Reads <b>{request.title}</b> from the folder it runs in. Save it there first.
        </p>
      )}
      <pre data-testid="code">{code}</pre>
    </details>
  );
}
