import { parseCustomAttributes } from '@sagemaker-tfs/tensors/custom-attributes';
import { formatCustomAttributes } from './custom-attributes.ts';

test('a request names its wishes; commas inside a value are written %2C', () => {
  expect(
    formatCustomAttributes({
      transport: 'grpc',
      modelName: 'digits',
      modelVersion: 3n,
      method: 'predict',
      signature: 'serving_default',
      outputs: ['a', 'b'],
      timings: true,
      others: { trace: 'x,y' },
    }),
  ).toBe(
    'tfs-transport=grpc,tfs-model-name=digits,tfs-model-version=3,tfs-method=predict,' +
      'tfs-signature=serving_default,tfs-outputs=a%2Cb,tfs-timings=1,trace=x%2Cy',
  );
  expect(formatCustomAttributes({ outputs: [] })).toBe('');
  expect(formatCustomAttributes({ outputs: ['a,b', '5%'] })).toBe('tfs-outputs=a%252Cb%2C5%2525');
});

test('what SageMaker does not carry is refused before it is sent', () => {
  expect(() => formatCustomAttributes({ outputs: ['x'.repeat(1100)] })).toThrow(
    /1112 characters, but SageMaker carries 1024/,
  );
  expect(() => formatCustomAttributes({ others: { größe: '1' } })).toThrow(/"ö" at character 2/);
});

test('values beyond ASCII are percent-encoded, and a percent sign with them', () => {
  expect(formatCustomAttributes({ signature: 'größe', others: { share: '50%' } })).toBe(
    'tfs-signature=gr%C3%B6%C3%9Fe,share=50%25',
  );
});

test('an answer is read back: commas, characters beyond ASCII, a percent sign of its own', () => {
  expect(
    parseCustomAttributes('tfs-model-version=1, note=a%2Cb%C3%A9,odd=50%25 %ZZ=,flag'),
  ).toEqual({ 'tfs-model-version': '1', note: 'a,bé', odd: '50%25 %ZZ=', flag: '' });
  expect(parseCustomAttributes('')).toEqual({});
});

test('the span of the caller, with its state, and nothing that is none', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(formatCustomAttributes({ traceparent, tracestate: 'a=1,b=2' })).toBe(
    `traceparent=${traceparent},tracestate=a=1%2Cb=2`,
  );
  expect(formatCustomAttributes({ tracestate: 'a=1' })).toBe('');
  expect(() => formatCustomAttributes({ traceparent: '00-1-2-3' })).toThrow(
    'traceparent is "00-1-2-3"',
  );
});
