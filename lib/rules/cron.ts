/** What EventBridge takes in the six fields of a cron expression. */
import { CRON_FIELDS, type CronField, cronValue } from '@sagemaker-tfs/batch';

interface Field extends CronField {
  /** What else an item may be; a group of it is a value of the field. */
  readonly special?: RegExp;
}

const FIELDS: readonly Field[] = [
  CRON_FIELDS.minute,
  CRON_FIELDS.hour,
  { ...CRON_FIELDS.day, special: /^(?:L|LW|L-\d+|(\d+)W)$/ },
  CRON_FIELDS.month,
  { ...CRON_FIELDS.weekday, special: /^(?:L|(\w+)L|(\w+)#[1-5])$/ },
  CRON_FIELDS.year,
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

function has(field: Field, text: string): boolean {
  const value = cronValue(field, text);
  return value >= field.low && value <= field.high;
}
