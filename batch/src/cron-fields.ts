/** The six fields of a cron expression of AWS. */

/** One field. */
export interface CronField {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  /** Names of the values, from `low` on. */
  readonly names?: readonly string[];
}

/**
 * By what they count. Days of the week count from Sunday, 1.
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
 */
export const CRON_FIELDS = {
  minute: { name: 'minutes', low: 0, high: 59 },
  hour: { name: 'hours', low: 0, high: 23 },
  day: { name: 'day of month', low: 1, high: 31 },
  month: {
    name: 'month',
    low: 1,
    high: 12,
    names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' '),
  },
  weekday: {
    name: 'day of week',
    low: 1,
    high: 7,
    names: 'SUN MON TUE WED THU FRI SAT'.split(' '),
  },
  year: { name: 'year', low: 1970, high: 2199 },
} as const satisfies Readonly<Record<string, CronField>>;

/** The value of a number or a name in capitals; NaN for other text. */
export function cronValue({ low, names }: CronField, text: string): number {
  const index = names?.indexOf(text) ?? -1;
  if (index >= 0) return low + index;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
