import { formatCustomAttributes } from '@sagemaker-tfs/client';
import type { PageRequest } from './ask.ts';
import { inlineText, LANGUAGES, snippet } from './snippets.ts';

const requestWith = (attributes: PageRequest['attributes']) =>
  ({
    body: new Uint8Array(),
    contentType: 'application/json',
    accept: 'application/json',
    attributes,
    title: 'form',
  }) as PageRequest;

test.each(LANGUAGES)('%s has the header as the page itself sends it', (language) => {
  const attributes = { modelLabel: 'neu', signature: 'größe', outputs: ['a,b', '5%'] };
  const code = snippet(language, requestWith(attributes), 'http://127.0.0.1:8080');
  expect(code).toContain(formatCustomAttributes(attributes));
});

test('a header that is longer than SageMaker takes is left out, and the page stays', () => {
  const outputs = Array.from({ length: 200 }, (_, i) => `output_${i}`);
  expect(snippet('curl', requestWith({ outputs }), '')).not.toContain('Custom-Attributes');
});

test.each(['@mention me', '@/etc/passwd', 'file:///etc/hostname', 'fileb://x'])(
  'no language takes the body %s for the name of a file',
  (body) => {
    const request = { ...requestWith({}), body: new TextEncoder().encode(body) };
    expect(inlineText(request)).toBeUndefined();
    for (const language of LANGUAGES) {
      expect(snippet(language, request, '')).not.toContain(body);
      expect(snippet(language, request, '')).toContain('form');
    }
  },
);
