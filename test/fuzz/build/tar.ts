/** Tar archives (POSIX pax, GNU): right sums, with a wrong field now and then. */
import { pick, type Random } from '../random.ts';
import { slip, slipTo } from './bytes.ts';

const NAMES = [
  '1/saved_model.pb',
  'a/b',
  'a/',
  '1/variables/variables.index',
  'code/inference.js',
  'x'.repeat(99),
];
const BAD_NAMES = [
  '../x',
  '/etc/x',
  'a/../../x',
  '',
  '.',
  './',
  'a\\..\\x',
  'C:\\x',
  'a/b/../c',
  '\xff\xfe',
  'a\nb',
];
const TYPES = [
  '0',
  '5',
  '\0',
  '1',
  '2',
  '3',
  '4',
  '6',
  '7',
  'L',
  'K',
  'x',
  'g',
  'S',
  'V',
  'D',
  '9',
];
const RECORDS = [
  'path=a/c',
  'path=../x',
  'size=3',
  'size=-1',
  'size=99999999999',
  'linkpath=/etc',
  'mtime=1e99',
  'GNU.sparse.major=1',
  'path=',
  'SCHILY.xattr.a=b',
];

/** The archive. */
export function tarOf(random: Random): Buffer {
  const parts = Array.from({ length: 1 + random(4) }, () => memberOf(random));
  const end = slipTo(random, 1_024, [0, 512, 100]);
  return Buffer.concat([...parts, Buffer.alloc(end)]);
}

function memberOf(random: Random): Buffer {
  const name = slipTo(random, pick(random, NAMES), BAD_NAMES);
  const kind = name.endsWith('/') ? '5' : '0';
  const content = kind === '5' ? '' : 'x'.repeat(random(3) ? random(700) : 0);
  const member = entryOf(random, { name, type: random(10) ? kind : pick(random, TYPES), content });
  if (random(8)) return member;
  return Buffer.concat([entryOf(random, extendedOf(random)), member]);
}

/** A header that says more of the next member. */
function extendedOf(random: Random): Member {
  if (random(3) === 0) {
    const name = random(2) ? `${'long/'.repeat(30)}x` : pick(random, BAD_NAMES);
    return { name: '././@LongLink', type: pick(random, ['L', 'K']), content: `${name}\0` };
  }
  const records = Array.from({ length: 1 + random(3) }, () =>
    recordOf(random, pick(random, RECORDS)),
  );
  return { name: 'PaxHeader', type: pick(random, ['x', 'g']), content: records.join('') };
}

/** Its length counts itself. */
function recordOf(random: Random, text: string): string {
  let length = text.length + 3;
  length = `${length} ${text}\n`.length;
  return `${slip(random, length)} ${text}\n`;
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly content: string;
}

function entryOf(random: Random, { name, type, content }: Member): Buffer {
  const header = Buffer.alloc(512);
  header.write(name.slice(0, 100), 0, 'latin1');
  header.write('0000644\0', 100);
  header.write(sizeOf(random, content.length), 124, 12, 'latin1');
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156, 'latin1');
  if (type === '1' || type === '2')
    header.write(pick(random, ['/etc/passwd', '../..', 'a/b']), 157);
  header.write(slipTo(random, 'ustar\x0000', ['ustar  \0', '\0\0\0\0\0\0\0\0']), 257, 'latin1');
  if (random(12) === 0) header.write(pick(random, ['pre/fix', '../..', '/']), 345);
  const sum = slip(
    random,
    header.reduce((total, byte) => total + byte, 0),
  );
  header.write(`${(sum % 2 ** 18).toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

function sizeOf(random: Random, size: number): string {
  if (random(24) === 0)
    return pick(random, [
      '77777777777\0',
      '-1         \0',
      '\x80\0\0\0\0\0\0\0\0\0\0\x05',
      '\xff'.repeat(12),
      '           \0',
    ]);
  return `${slip(random, size).toString(8).padStart(11, '0').slice(-11)}\0`;
}
