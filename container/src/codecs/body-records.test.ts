import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { bodyRecords } from './body-records.ts';
import { csvRequest } from './csv.ts';
import { decodeContext, signatureOf } from './test-signatures.ts';

const odd = signatureOf({ 'a,b': ['float32', [-1]], 'say "hi"': ['float32', [-1]] });
const plain = signatureOf({ x: ['float32', [-1]] });

test.each([
  ['names with commas and quotes', odd, '"a,b","say ""hi"""\n1,2\n3,4\n', '1,2'],
  ['the same, with space around', odd, ' "a,b" , "say ""hi""" \n1,2\n3,4\n', '1,2'],
  ['the same behind a byte order mark', odd, '\ufeff"a,b","say ""hi"""\r\n1,2\r\n3,4', '1,2'],
  ['a name in quotes', plain, '"x"\n1\n2\n', '1'],
  ['no header', plain, '1\n2\n', '1'],
])('CSV taken apart has the rows that its reader finds: %s', async (_, signature, text, first) => {
  const body = Buffer.from(text);
  const limits = DEFAULT_DECODE_LIMITS;
  const parts = await bodyRecords(body, 'text/csv', { limits, signature, trim: true });
  const { inputs } = await csvRequest.decode(body, decodeContext(signature, 'text/csv'));
  expect(Object.values(inputs).map(({ shape }) => shape[0])).toEqual(
    Object.keys(signature.inputs).map(() => parts?.records.length),
  );
  expect(Buffer.from(parts?.records[0] ?? []).toString()).toBe(first);
});
