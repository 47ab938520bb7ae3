import { listValue, requestValue } from '@sagemaker-tfs/tensors/custom-attributes';
import { formatAttributes, parseRequestAttributes } from './custom-attributes.ts';

describe('parseRequestAttributes', () => {
  test('reads what is ours and leaves the rest to handlers', () => {
    expect(
      parseRequestAttributes(
        'tfs-model-name=m, tfs-model-version=007,tfs-method=classify,mine=1,tfs-outputs=a%2Cb,tfs-timings=1',
      ),
    ).toEqual({
      modelName: 'm',
      modelVersion: '7',
      method: 'classify',
      outputs: ['a', 'b'],
      timings: true,
    });
    expect(parseRequestAttributes('')).toEqual({ timings: false });
  });

  test('names that are not ASCII are percent-encoded, a percent sign may stand for itself', () => {
    const { signature, outputs } = parseRequestAttributes(
      'tfs-signature=gr%C3%B6%C3%9Fe%201,tfs-outputs=%E6%95%B0%2Cb',
    );
    expect([signature, outputs]).toEqual(['größe 1', ['数', 'b']]);
    expect(parseRequestAttributes('tfs-signature=100%').signature).toBe('100%');
    expect(parseRequestAttributes('tfs-signature=100%%2Ca').signature).toBe('100%,a');
  });

  test.each(['a%2Cb%2Ca', 'a%2C a %2Cb', `a%2Cb${'%2Cb'.repeat(200)}`])(
    'an output asked for twice is one: %s',
    (list) => {
      expect(parseRequestAttributes(`tfs-outputs=${list}`).outputs).toEqual(['a', 'b']);
    },
  );

  test.each([
    ['a%252Cb%2Cc', ['a,b', 'c']],
    ['a%252cb', ['a,b']],
    ['50%25%2C%2525%2C%25252C', ['50%', '%', '%2C']],
    ['%252C', [',']],
  ])('an output may have a comma or a percent sign in its name: %s', (list, names) => {
    expect(parseRequestAttributes(`tfs-outputs=${list}`).outputs).toEqual(names);
    const written = requestValue(listValue(names));
    expect(parseRequestAttributes(`tfs-outputs=${written}`).outputs).toEqual(names);
  });

  test.each([
    ['tfs-transport=http', /one of grpc, rest, in-process/],
    ['tfs-model-version=2,tfs-model-label=stable', /not both/],
    ['tfs-method=infer', /one of predict, classify, regress/],
    [`mine=${'x'.repeat(1020)}`, /has 1025 characters, the most is 1024/],
    ['tfs-signature=gr\u00f6\u00dfe', /printable ASCII/],
    ['mine=\u007f', /printable ASCII/],
    ['tfs-model-version=v2', /whole number/],
    ['tfs-model-version=9223372036854775808', /whole number/],
  ])('%s is refused', (header, message) => {
    expect(() => parseRequestAttributes(header)).toThrow(message);
  });
});

describe('formatAttributes', () => {
  test('commas and what is not printable ASCII are percent-encoded', () => {
    expect(formatAttributes(Object.entries({ a: '1,2', none: undefined, b: 'größe\n' }))).toBe(
      'a=1%2C2,b=gr%C3%B6%C3%9Fe%0A',
    );
  });

  test("what does not fit into SageMaker's 1024 characters is left out whole", () => {
    const header = formatAttributes(
      Object.entries({ first: 'a', huge: 'x'.repeat(1100), last: 'b' }),
    );
    expect(header).toBe('first=a,last=b');
  });
});
