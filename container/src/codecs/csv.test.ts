import {
  type Nested,
  type Signature,
  stringTensor,
  tensorFromNested,
  tensorFromValues,
  toNested,
} from '@sagemaker-tfs/tensors';
import { failureOf } from '../testing/serving-failure.ts';
import { csvRequest } from './csv.ts';
import { requireCommas } from './csv-header.ts';
import { csvResponse } from './csv-response.ts';
import { bodyOf, decodeContext, encodeContext, nestedOf, signatureOf } from './test-signatures.ts';

const vector = signatureOf({ x: ['float32', [-1, 3]] });
const scalar = signatureOf({ x: ['float32', [-1]] });
const strings = signatureOf({ x: ['string', [-1, -1]] });

async function decode(
  body: string | Uint8Array,
  signature: Signature,
  contentType = 'text/csv',
): Promise<Record<string, Nested>> {
  const context = decodeContext(signature, contentType);
  const { inputs } = await csvRequest.decode(Buffer.from(body), context);
  return nestedOf(inputs);
}

const failure = failureOf(decode);

describe('requests', () => {
  test.each([
    ['LF', '1,2,3\n4,5,6'],
    ['a last line end', '1,2,3\n4,5,6\n'],
    ['CRLF', '1,2,3\r\n4,5,6\r\n'],
    ['CR', '1,2,3\r4,5,6'],
    ['empty lines', '\n1,2,3\n\n\n4,5,6\n\n'],
    ['a byte order mark and spaces', '\uFEFF 1 , 2,3\n4,5,6 '],
    ['quotes', '"1","2",3\n4,"5",6'],
    ['quotes with CR alone', '"1","2",3\r4,"5",6\r'],
    ['quotes and a byte order mark', '\uFEFF"1",2,3\r\n4,5,6'],
  ])('a line an instance: %s', async (_, body) => {
    expect(await decode(body, vector)).toEqual({
      x: [
        [1, 2, 3],
        [4, 5, 6],
      ],
    });
  });

  test('one column is a scalar for each instance', async () => {
    expect(await decode('1\n2.5\n-3e2', scalar)).toEqual({ x: [1, 2.5, -300] });
    expect(await decode('1\n2', signatureOf({ x: ['float32', [-1, 1]] }))).toEqual({
      x: [[1], [2]],
    });
  });

  test('columns fill the shape of an instance', async () => {
    expect(await decode('1,2,3,4', signatureOf({ x: ['int32', [-1, 2, -1]] }))).toEqual({
      x: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    });
  });

  test('text with commas, quotes and line ends', async () => {
    const body = '"a,b","say ""hi"""\r\n"two\nlines", 7 \n';
    expect(await decode(body, strings)).toEqual({
      x: [
        [Buffer.from('a,b'), Buffer.from('say "hi"')],
        [Buffer.from('two\nlines'), Buffer.from(' 7 ')],
      ],
    });
    expect(await decode('naïve\ntext', signatureOf({ x: ['string', [-1]] }))).toEqual({
      x: [Buffer.from('naïve'), Buffer.from('text')],
    });
  });

  /** The answers of Python 3.11: `list(csv.reader(io.StringIO(body, newline='')))`, empty rows left out. */
  test.each([
    [' a , b\t\n', [[' a ', ' b\t']]],
    ['" a ",b\n', [[' a ', 'b']]],
    ['\n  \n""\n\t\n', [['  '], [''], ['\t']]],
    ['"",\n', [['', '']]],
    ['a\u00a0,\u3000b\n', [['a\u00a0', '\u3000b']]],
    ['a\u0000b,c\u2028d\n', [['a\u0000b', 'c\u2028d']]],
    ['"a""b","c\r\nd"\r\n', [['a"b', 'c\r\nd']]],
  ])('text keeps every character: %j', async (body, rows) => {
    expect(await decode(body, strings)).toEqual({
      x: rows.map((row) => row.map((cell) => Buffer.from(cell))),
    });
  });

  test('numbers beside text lose the space around them', async () => {
    const signature = signatureOf({ age: ['float32', [-1]], name: ['string', [-1]] });
    const type = 'text/csv; header=present';
    for (const quote of ['', '"']) {
      const body = `name, age\n${quote} x ${quote}, 1.5 \n`;
      expect(await decode(body, signature, type)).toEqual({
        age: [1.5],
        name: [Buffer.from(' x ')],
      });
    }
  });

  test('a quote behind a space is no opening quote, and is refused', async () => {
    expect((await failure('a, "b"\n', strings)).message).toContain('the CSV is broken');
  });

  test("numbers by the input's dtype", async () => {
    expect(await decode('nan,-inf,Infinity', vector)).toEqual({
      x: [[Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]],
    });
    const int64 = signatureOf({ x: ['int64', [-1, -1]] });
    expect(await decode('9223372036854775807,-9007199254740993,3.0', int64)).toEqual({
      x: [[9223372036854775807n, -9007199254740993n, 3n]],
    });
    expect(await decode('true,0,False', signatureOf({ x: ['bool', [-1, 3]] }))).toEqual({
      x: [[true, false, false]],
    });
  });

  test('other bases and numbers beyond the range of float64 are no numbers', async () => {
    const int32 = signatureOf({ x: ['int32', [-1, -1]] });
    for (const cell of ['0x10', '0b1', '0o7', '-0x1', '1e400', '1_000', '']) {
      await expect(decode(`1,${cell}`, vector)).rejects.toMatchObject({ code: 'BAD_INPUT' });
      await expect(decode(`1,${cell}`, int32)).rejects.toMatchObject({ code: 'BAD_INPUT' });
    }
    expect(await decode('0,-0.5,0e5', vector)).toEqual({ x: [[0, -0.5, 0]] });
  });

  test('header=present names the columns', async () => {
    const signature = signatureOf({ age: ['float32', [-1]], name: ['string', [-1, 2]] });
    const body = 'name,age,name\n"x",1,y\nz,2,"w"';
    expect(await decode(body, signature, 'text/csv; header=present')).toEqual({
      age: [1, 2],
      name: [
        [Buffer.from('x'), Buffer.from('y')],
        [Buffer.from('z'), Buffer.from('w')],
      ],
    });
    expect(await decode('a,b,c\n1,2,3', vector, 'text/csv;header=present')).toEqual({
      x: [[1, 2, 3]],
    });
  });

  test('a line of nothing but the name of the only input, before others, is a header', async () => {
    const text = signatureOf({ text: ['string', [-1, 1]] });
    const word = (...words: string[]) => ({ text: words.map((each) => [Buffer.from(each)]) });
    expect(await decode('text\ngood\ntext\n', text)).toEqual(word('good', 'text'));
    expect(await decode('"text"\r\n"a, b"\r\n', text)).toEqual(word('a, b'));
    expect(await decode('text\n', text)).toEqual(word('text'));
    expect(await decode('text\na', text, 'text/csv; header=absent')).toEqual(word('text', 'a'));
    expect(await decode('texts\na', text)).toEqual(word('texts', 'a'));
    expect(await decode('x,x,x\n1,2,3', vector)).toEqual({ x: [[1, 2, 3]] });
    expect((await failure('x,x\n1,2,3', vector)).message).toMatch(/takes 3 columns, and 2 have/);
  });

  test.each([
    [',age,rooms\n0,50,3', /^the header: column 1 has no name\. .*index=False/],
    ['50,3,1000\n1,2,3', /^the header: it has numbers alone/],
    ['age;rooms;area\n1;2;3', /separated by semicolons/],
    ['age\trooms\tarea\n1\t2\t3', /separated by tabs/],
  ])('a header that hides a fault is refused: %j', async (body, message) => {
    expect((await failure(body, vector, 'text/csv; header=present')).message).toMatch(message);
  });

  test('a header of names that are numbers: those that pandas makes up', async () => {
    expect(await decode('0,1,2\n1,2,3', vector, 'text/csv; header=present')).toEqual({
      x: [[1, 2, 3]],
    });
    const years = signatureOf({ word: ['string', [-1]] });
    expect(await decode('2024\na', years, 'text/csv; header=present')).toEqual({
      word: [Buffer.from('a')],
    });
  });

  test.each([
    ['a,b,c\n1,2,3', /takes\. If the first line names the columns/],
    ['50,,1000\n1,2,3', /takes it\.$/],
    ['50,x,1000\n1,2,3', /takes\.$/],
    ['1;2;3\n1;2;3', /, and this line has semicolons\.$/],
    ['1,2,3\na,b,c', /takes\.$/],
  ])('what may be wrong with the first line: %j', async (body, message) => {
    expect((await failure(body, vector)).message).toMatch(message);
  });

  test('a body of many slices comes out whole, quoted or not', async () => {
    const rows = Array.from({ length: 9000 }, (_, at) => [at + 10, at / 2, -at - 1]);
    const plain = rows.map((row) => row.join(',')).join('\r\n');
    const expected = rows.map((row) => row.map(Math.fround));
    expect((await decode(plain, vector)).x).toEqual(expected);
    expect((await decode(plain.replace('10,', '"10",'), vector)).x).toEqual(expected);
  });
});

describe('bad requests name line and column', () => {
  test.each([
    ['1,2,3\n4,x,6', 'line 2, column 2', "'x' is not a float32"],
    ['1,2,3\n4,,6', 'line 2, column 2', 'empty'],
    [
      'a,b,c\n4,5,6',
      "line 1, column 1: 'a'",
      'names the columns, send it as text/csv;header=present',
    ],
    ['1,2,3\n4,5', 'line 2', '2 columns, expected 3'],
    ['"1",2,3\n4,5', 'line 2', '2 columns, expected 3'],
    ['1,2\n', 'takes instances of [3]', '2 columns'],
    ['', 'no instances', ''],
    ['\n\n', 'no instances', ''],
    ['1,"2,3', 'the CSV is broken', 'line'],
    ['1,2,"3"x', 'the CSV is broken', 'line'],
  ])('%j', async (body, ...parts) => {
    const error = await failure(body, vector);
    expect(error).toMatchObject({ code: 'BAD_INPUT', status: 400 });
    for (const part of parts) expect(error.message).toContain(part);
  });

  test.each([
    ['without a quote', [0x31, 0xff, 0x0a]],
    ['with one', [0x22, 0xff, 0x22, 0x0a]],
  ])('bytes that are not UTF-8, %s', async (_, bytes) => {
    const error = await failure(Uint8Array.from(bytes), strings);
    expect(error).toMatchObject({ code: 'BAD_INPUT', message: 'the CSV is not UTF-8.' });
  });

  test('values that the dtype cannot hold', async () => {
    const uint8 = signatureOf({ x: ['uint8', [-1]] });
    expect((await failure('1\n256', uint8)).message).toContain('uint8');
    expect((await failure('1.5', uint8)).message).toContain("'1.5' is not a uint8");
    expect(
      (await failure('99999999999999999999', signatureOf({ x: ['int64', [-1]] }))).message,
    ).toContain('int64');
  });

  test('several inputs need a header, whose names must be inputs', async () => {
    const signature = signatureOf({ a: ['float32', [-1]], b: ['float32', [-1]] });
    expect(await decode('b, a\n1,2', signature)).toEqual({ a: [2], b: [1] });
    expect((await failure('a,b\n1,2', signature, 'text/csv; header=absent')).code).toBe(
      'BAD_INPUT',
    );
    for (const type of ['text/csv', 'text/csv; header=absent']) {
      expect((await failure('1,2', signature, type)).message).toMatch(
        /header=present with this line first: a,b$/,
      );
    }
    const unknown = await failure('a,c\n1,2', signature, 'text/csv;header=present');
    expect(unknown).toMatchObject({ code: 'UNKNOWN_INPUT' });
    expect(unknown.message).toMatch(/^the header: .*no input 'c'/);
  });

  const people = signatureOf({ age: ['float32', [-1]], visits: ['int64', [-1, 3]] });
  const unnamed = 'the header: column 1 has no name. An index of pandas has none';
  const renamed = 'as pandas numbers it. Name each column: age,visits,visits,visits';

  test.each([
    [',age,visits,visits,visits\n0,50,1,2,3', people, unnamed],
    ['"",age,visits,visits,visits\n0,50,1,2,3', people, unnamed],
    ['Unnamed: 0,age,visits,visits,visits\n0,50,1,2,3', people, unnamed],
    [
      'age,visits,visits.1,visits.2\n50,1,2,3',
      people,
      `the header: column 3: 'visits.1' is a repeated name ${renamed}`,
    ],
    [',age,visits,visits.1,visits.2\n0,50,1,2,3', people, unnamed],
    ['x,x.1,x.2\n1,2,3', vector, 'Name each column: x,x,x'],
    ...[people, vector].map((signature) => ['sep=;\nage;x\n1;2', signature, /'sep=;' is .*Excel/]),
    ['sep=,\nage,visits,visits,visits\n1,2,3,4', people, "'sep=' is a line for Excel. Leave it"],
  ] as [string, typeof people, string | RegExp][])(
    'what programs write into a header of inputs by themselves is named: %j',
    async (body, signature, advice) => {
      const types =
        signature === people || !body.includes('x.1')
          ? ['', ';header=present']
          : [';header=present'];
      for (const type of types) {
        const { code, message } = await failure(body, signature, `text/csv${type}`);
        expect([code, message]).toEqual([
          'BAD_INPUT',
          typeof advice === 'string'
            ? expect.stringContaining(advice)
            : expect.stringMatching(advice),
        ]);
      }
    },
  );

  test.each([
    ['age,visits,visits,visits', people, 'text/csv'],
    ['a,b,c\n\n', vector, 'text/csv;header=present'],
  ])(
    'a header alone, as a job sends it that cuts files into lines: %j',
    async (body, signature, type) => {
      const { code, message } = await failure(body, signature, type);
      expect([code, message]).toEqual([
        'BAD_INPUT',
        expect.stringMatching(/a header and no values.*in one request: .*splitType Line/),
      ]);
    },
  );

  test('names of inputs that look so are names', async () => {
    const numbered = signatureOf({ x: ['float32', [-1]], 'x.1': ['float32', [-1]] });
    expect(await decode('x,x.1\n1,2', numbered)).toEqual({ x: [1], 'x.1': [2] });
    const unknown = await failure('age,rooms\n1,2', people, 'text/csv;header=present');
    expect(unknown.code).toBe('UNKNOWN_INPUT');
  });

  test('a line of millions of cells is looked at up to the first that is no name', () => {
    const cells = ['x', '', 'x;x'];
    Object.defineProperty(cells, 2, { get: () => expect('this cell').toBe('left alone') });
    requireCommas(cells, vector);
  });

  const risk = signatureOf({ bmi: ['float32', [-1, 3]], labs: ['int64', [-1, 2]] });
  const header = 'bmi,bmi,bmi,labs,labs';

  test.each([
    [
      'bmi,labs\n1,2,3,4,5',
      risk,
      `input 'bmi' takes 3 columns, and 1 has its name. Name each column: ${header}`,
    ],
    ['bmi,labs\n"[1,2,3]","[4,5]"', risk, `Name each column: ${header}`],
    [
      'labs,labs,bmi,bmi\n1,2,3,4',
      risk,
      "input 'bmi' takes 3 columns, and 2 have its name. Name each column: labs,labs,bmi,bmi,bmi",
    ],
    ['1,2,3,4,5', risk, `with this line first: ${header}`],
    ['x\n1,2,3', vector, "input 'x' takes 3 columns, and 1 has its name. Name each column: x,x,x"],
    [
      'wide\n1,2',
      signatureOf({ wide: ['float32', [-1, 3, 1e6]] }),
      /'wide' takes 3000000 columns.*: (wide,){24}\.\.\.$/,
    ],
    ['bmi;bmi;bmi;labs;labs\n1;2;3;4;5', risk, 'separated by semicolons. Separate them by commas.'],
    ['bmi\tlabs\n1\t4', risk, 'separated by tabs. Separate them by commas.'],
    [
      `${header}\n1,2,,4,5`,
      risk,
      "line 2, column 3: the cell is empty, and input 'bmi' takes a float32. Write nan if the model takes it.",
    ],
    [
      `${header}\n1,2,3,,5`,
      risk,
      "line 2, column 4: the cell is empty, and input 'labs' takes an int64.",
    ],
    [
      `${header}\n1,2,3,4.5,5`,
      risk,
      "line 2, column 4: '4.5' is not an int64, which input 'labs' takes.",
    ],
  ])('a table, and what is to be changed in it: %j', async (body, signature, advice) => {
    const types = body.startsWith('1') ? ['text/csv'] : ['text/csv;header=present'];
    if (signature === risk && !body.startsWith('1')) types.push('text/csv');
    for (const type of types) {
      const { code, message } = await failure(body, signature, type);
      expect(code).toBe('BAD_INPUT');
      if (typeof advice === 'string') expect(message).toContain(advice);
      else expect(message).toMatch(advice);
    }
  });

  test('a body that would fill memory is refused', async () => {
    const context = decodeContext(scalar, 'text/csv');
    const limits = { ...context.limits, maxDecodedBytes: 1000 };
    const body = Buffer.from('1\n'.repeat(1000));
    await expect(csvRequest.decode(body, { ...context, limits })).rejects.toMatchObject({
      status: 413,
    });
  });
});

describe('answers', () => {
  async function csv(...parameters: Parameters<typeof csvResponse.encode>): Promise<string> {
    return (await bodyOf(await csvResponse.encode(...parameters))).toString();
  }

  test('a line an instance, outputs side by side in the order asked for', async () => {
    const a = tensorFromNested('float32', [
      [
        [0.1, 2],
        [3, Number.NaN],
      ],
      [
        [5, 6],
        [7, 8],
      ],
    ]);
    const b = stringTensor([2], ['say "hi",\nyou', ' naïve ']);
    const encoded = await csvResponse.encode({ a, b }, encodeContext(['b', 'a']));
    expect((await bodyOf(encoded)).toString()).toBe(
      '"say ""hi"",\nyou",0.1,2.0,3.0,NaN\n" naïve ",5.0,6.0,7.0,8.0\n',
    );
    expect(encoded.customAttributes).toEqual({ 'tfs-output-shapes': 'b:2;a:2x2x2' });
  });

  test('what it writes it reads', async () => {
    const values = Float32Array.from({ length: 9000 }, (_, at) => Math.sin(at) * 10 ** (at % 30));
    const x = tensorFromValues('float32', [3000, 3], values);
    expect(await decode(await csv({ x }, encodeContext()), vector)).toEqual({ x: toNested(x) });
  });

  test('text that it writes it reads, space and line ends included', async () => {
    const cells = [
      '',
      ' ',
      'a,b',
      ' "x" ',
      '\r',
      '\n',
      '\r\n',
      '\u0000',
      '\uFEFF',
      '7',
      'naïve 🙂',
    ];
    const x = stringTensor([cells.length, 1], cells);
    const body = await csv({ x }, encodeContext());
    expect(await decode(body, strings)).toEqual({ x: toNested(x) });
  });

  test('bytes that are no text are not acceptable, however large the answer', async () => {
    for (const count of [1, 40_000]) {
      const values = Array.from({ length: count }, () => Buffer.from('text'));
      values[count - 1] = Buffer.from([0xff, 0xfe]);
      await expect(
        csv({ x: stringTensor([count], values) }, encodeContext()),
      ).rejects.toMatchObject({
        code: 'NOT_ACCEPTABLE',
        message: expect.stringContaining("output 'x' has bytes"),
      });
    }
  });

  test('a row of many numbers', async () => {
    const x = tensorFromValues('float32', [1, 200_000], new Float32Array(200_000).fill(0.25));
    expect(await csv({ x }, encodeContext())).toBe(`${new Array(2e5).fill('0.25').join(',')}\n`);
  });

  test('outputs that disagree on the number of instances are not acceptable', async () => {
    const a = tensorFromNested('float32', [1, 2]);
    const b = tensorFromNested('float32', [1]);
    await expect(csvResponse.encode({ a, b }, encodeContext())).rejects.toMatchObject({
      status: 406,
      message: expect.stringContaining("'a' has 2 instances, 'b' has 1"),
    });
  });
});
