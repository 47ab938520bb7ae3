/** When a cron expression of AWS fires. */
import { CRON_FIELDS, type CronField, cronValue } from '@sagemaker-tfs/batch';

/**
 * Whether an expression fires in the minute that a time begins.
 * @param expression `cron(0 8 ? * MON-FRI *)`
 * @param local the time on the clock of the expression's zone, as the UTC fields of a date
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
 */
export function fires(expression: string, local: Date): boolean {
  const fields = /^cron\((.*)\)$/.exec(expression)?.[1]?.trim().toUpperCase().split(/\s+/) ?? [];
  const [minute = '', hour = '', day = '', month = '', weekday = '', year = ''] = fields;
  return (
    fields.length === 6 &&
    has(CRON_FIELDS.minute, minute, local.getUTCMinutes()) &&
    has(CRON_FIELDS.hour, hour, local.getUTCHours()) &&
    has(CRON_FIELDS.month, month, local.getUTCMonth() + 1) &&
    has(CRON_FIELDS.year, year, local.getUTCFullYear()) &&
    isDay(day, local) &&
    isWeekday(weekday, local)
  );
}

/** Whether the lists, ranges and steps in a field's text hold a value. */
function has(field: CronField, text: string, value: number): boolean {
  return text.split(',').some((item) => {
    const [base = '', step] = item.split('/');
    if (base === '*' || base === '?')
      return step === undefined || (value - field.low) % Number(step) === 0;
    const [first = '', last] = base.split('-');
    const from = cronValue(field, first);
    const to = last !== undefined ? cronValue(field, last) : step === undefined ? from : Infinity;
    // A range may pass the end of its field, such as FRI-MON.
    const within = from <= to ? value >= from && value <= to : value >= from || value <= to;
    return within && (value - from) % Number(step ?? 1) === 0;
  });
}

function isDay(field: string, local: Date): boolean {
  const day = local.getUTCDate();
  const last = lastDay(local);
  return field.split(',').some((item) => {
    if (item === 'L') return day === last;
    if (item === 'LW') return day === nearestWeekday(last, local);
    if (/^L-\d+$/.test(item)) return day === last - Number(item.slice(2));
    if (/^\d+W$/.test(item)) return day === nearestWeekday(Number(item.slice(0, -1)), local);
    return has(CRON_FIELDS.day, item, day);
  });
}

function isWeekday(field: string, local: Date): boolean {
  const weekday = local.getUTCDay() + 1;
  const day = local.getUTCDate();
  return field.split(',').some((item) => {
    if (item === 'L') return weekday === 7;
    const last = /^(\w+)L$/.exec(item)?.[1];
    if (last !== undefined)
      return weekday === cronValue(CRON_FIELDS.weekday, last) && day > lastDay(local) - 7;
    const [, name, nth] = /^(\w+)#(\d)$/.exec(item) ?? [];
    if (name !== undefined) {
      return weekday === cronValue(CRON_FIELDS.weekday, name) && Math.ceil(day / 7) === Number(nth);
    }
    return has(CRON_FIELDS.weekday, item, weekday);
  });
}

function lastDay(local: Date): number {
  return new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
}

/** The day from Monday to Friday that is nearest to a day, within its month. */
function nearestWeekday(day: number, local: Date): number {
  const weekday = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), day)).getUTCDay();
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < lastDay(local) ? day + 1 : day - 2;
  return day;
}
