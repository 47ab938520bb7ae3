import { acceptableTypes, covers, isList, parseMediaType } from './media-type.ts';

const AVAILABLE = ['application/json', 'text/csv', 'application/x-npy'];

describe('parseMediaType', () => {
  test('case, spaces and quoted parameters do not matter', () => {
    expect(parseMediaType(' Text/CSV ; Header="pre;s,ent" ;charset=utf-8;odd')).toEqual({
      type: 'text/csv',
      parameters: { header: 'pre;s,ent', charset: 'utf-8' },
    });
  });
});

describe('covers', () => {
  test('wildcards cover what they name', () => {
    expect(covers('image/*', 'image/jpeg')).toBe(true);
    expect(covers('image/*', 'images/jpeg')).toBe(false);
    expect(covers('*/*', 'text/csv')).toBe(true);
    expect(covers('text/csv', 'text/plain')).toBe(false);
  });
});

describe('isList', () => {
  test.each([
    ['text/csv', false],
    ['text/csv, application/json', true],
    ['text/csv; a="b,c"', false],
    ['text/csv; a="b,c", text/html', true],
    ['text/csv; a="b\\", c"', false],
  ])('%s: %s', (text, expected) => {
    expect(isList(text)).toBe(expected);
  });

  test('of millions of commas is recognized in one pass', () => {
    expect(isList(`"${','.repeat(3e6)}`)).toBe(false);
    expect(isList(`"${','.repeat(3e6)}",`)).toBe(true);
  });
});

describe('acceptableTypes', () => {
  test.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/*', 'text/csv'],
    ['text/csv, application/json', 'text/csv'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/html, application/x-npy;q=0.2, */*;q=0.1', 'application/x-npy'],
    ['*/*, application/json;q=0', 'text/csv'],
    ['application/x-npy; version=2', 'application/x-npy'],
    ['TEXT/CSV;Q=1.0', 'text/csv'],
    ['text/csv;q=nonsense', 'text/csv'],
  ])('%s chooses %s', (accept, chosen) => {
    expect(acceptableTypes(accept, AVAILABLE)[0]).toBe(chosen);
  });

  test('a type that nobody knows is passed over for the first known one', () => {
    expect(acceptableTypes('application/x-tensor, text/csv', AVAILABLE)).toEqual(['text/csv']);
  });

  test('nothing fits', () => {
    expect(acceptableTypes('text/html', AVAILABLE)).toEqual([]);
  });

  test('every type that fits, in order of preference', () => {
    expect(acceptableTypes('application/x-npy, */*;q=0.5', AVAILABLE)).toEqual([
      'application/x-npy',
      'application/json',
      'text/csv',
    ]);
  });
});
