/** Rules of recurrence, followed for a limited number of steps: some that a calendar can hold never find a date. */
import ICAL from 'ical.js';

/** Steps that are left for an event. */
export interface Meter {
  left: number;
}

/** There are no steps left. */
export class Endless extends Error {
  override readonly name = 'Endless';
}

/** Values of all parts of a rule, such as `BYDAY`, that a step may compare. */
const VALUES_PER_STEP = 16;
/** Steps that a year costs: all its days are listed. */
const STEPS_PER_YEAR = 8;

/** Of the iterator that runs: it looks for its first date while it is constructed. */
let meter: Meter = { left: 0 };
let price = 1;

const spend = (steps: number): void => {
  meter.left -= steps * price;
  if (meter.left < 0) throw new Endless('the rule takes too long to follow');
};

/** Each loop of the library passes one of these. */
class MeteredIterator extends ICAL.RecurIterator {
  override check_contracting_rules(): boolean {
    spend(1);
    return super.check_contracting_rules();
  }
  override increment_monthday(days: number): void {
    // Each of many days takes a tenth of a step.
    spend(days / 10);
    super.increment_monthday(days);
  }
  override increment_month(): void {
    spend(1);
    super.increment_month();
  }
  override expand_year_days(year: number): number {
    spend(STEPS_PER_YEAR);
    return super.expand_year_days(year);
  }
  override sort_byday_rules(rules: unknown[]): void {
    spend(rules.length ** 2 / VALUES_PER_STEP);
    super.sort_byday_rules(rules);
  }
}

/** Whether the library gives the right dates: it leaves most of `BYSETPOS` out, and takes `BYWEEKNO` with `BYDAY` the wrong way round. */
const isKnown = ({ freq, parts }: ICAL.Recur): boolean => {
  const count = (...names: string[]): number =>
    Math.max(...names.map((name) => (parts as Record<string, unknown[] | undefined>)[name]?.length ?? 0));
  if (count('BYWEEKNO') > 0 && count('BYDAY') > 0) return false;
  if (count('BYSETPOS') === 0) return true;
  const isOfMonth = freq === 'MONTHLY' || (freq === 'YEARLY' && count('BYMONTH') > 0);
  if (count('BYDAY') > 0 && count('BYMONTHDAY') === 0 && isOfMonth) return true;
  // In a set of one there is nothing to choose.
  return count('BYDAY') <= (freq === 'WEEKLY' ? 1 : 0) && count('BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYMONTH') <= 1;
};

/**
 * The dates of a rule from a first one on.
 * @throws Endless once its steps are spent, here and from `next`; here, too, for a rule that is not known
 */
export const createIterator = (
  rule: ICAL.Recur,
  dtstart: ICAL.Time,
  steps: Meter,
): Pick<ICAL.RecurIterator, 'next'> => {
  if (!isKnown(rule)) throw new Endless('the rule is not known');
  const values = Object.values(rule.parts as Record<string, unknown[]>).reduce((sum, list) => sum + list.length, 0);
  const own = 1 + Math.floor(values / VALUES_PER_STEP);
  const metered = <T>(run: () => T): T => {
    [meter, price] = [steps, own];
    return run();
  };
  const iterator = metered(() => new MeteredIterator({ rule, dtstart }));
  return { next: () => metered(() => iterator.next()) };
};
