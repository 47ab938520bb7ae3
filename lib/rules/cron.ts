/** What EventBridge takes in the six fields of a cron expression. */

interface Field {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  /** Names of the values, from `low` on. */
  readonly names?: readonly string[];
  /** What else an item may be; a group of it is a value of the field. */
  readonly special?: RegExp;
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');

/** @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html */
const FIELDS: readonly Field[] = [
  { name: 'minutes', low: 0, high: 59 },
  { name: 'hours', low: 0, high: 23 },
  { name: 'day of month', low: 1, high: 31, special: /^(?:L|LW|L-\d+|(\d+)W)$/ },
  { name: 'month', low: 1, high: 12, names: MONTHS },
  { name: 'day of week', low: 1, high: 7, names: WEEKDAYS, special: /^(?:L|(\w+)L|(\w+)#[1-5])$/ },
  { name: 'year', low: 1970, high: 2199 },
];

/**
 * The first field that EventBridge would refuse.
 * @param fields six, in order
 * @returns what is wrong with it; undefined if all are possible
 */
export function impossibleField(fields: readonly string[]): string | undefined {
  const index = FIELDS.findIndex((field, i) => !isPossible(field, fields[i] ?? ''));
  const field = FIELDS[index];
  if (!field) return undefined;
  const names = field.names && ` or ${field.names[0]} to ${field.names.at(-1)}`;
  return `'${fields[index]}' is no ${field.name}: ${field.low} to ${field.high}${names ?? ''}`;
}

function isPossible(field: Field, text: string): boolean {
  if (text === '?') return field.special !== undefined;
  return text
    .toUpperCase()
    .split(',')
    .every((item) => isItem(field, item));
}

/** A value, a range or all of them, each with or without a step; or what only this field takes. */
function isItem(field: Field, item: string): boolean {
  const special = field.special?.exec(item);
  if (special) return special.slice(1).every((value) => value === undefined || has(field, value));
  const [, base = '', step = '1'] = /^([^/]+)(?:\/(\d+))?$/.exec(item) ?? [];
  if (Number(step) < 1) return false;
  const ends = base.split('-');
  return base === '*' || (ends.length <= 2 && ends.every((value) => has(field, value)));
}

function has({ low, high, names }: Field, value: string): boolean {
  if (names?.includes(value)) return true;
  return /^\d+$/.test(value) && Number(value) >= low && Number(value) <= high;
}
