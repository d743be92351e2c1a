/** When closed screens open again. The rules of time zones are loaded only if a screen is closed. */
import { signal } from '@preact/signals';
import type { OpeningTime } from '../../../service/contract/kiosk.ts';
import type { BoxClock } from '../api/clock.ts';
import type { Format } from '../texts/format.ts';
import type { Documents } from './documents.ts';

export type OpeningTimes = ReturnType<typeof createOpeningTimes>;

interface Dependencies {
  documents: Documents;
  clock: BoxClock;
  format: Format;
  timeZone: string;
}

const DAYS_AHEAD = 14;

export const createOpeningTimes = ({ documents, clock, format, timeZone }: Dependencies) => {
  const rules = signal<typeof import('../../../service/domain/opening-hours.ts') | null>(null);
  let isAsked = false;

  const load = async (): Promise<void> => {
    isAsked = true;
    rules.value = await import('../../../service/domain/opening-hours.ts');
  };

  return {
    /** When a closed screen opens, in words; null: not known, or not within two weeks. */
    opensAt: (slug: string): string | null => {
      const screen = documents.current.value?.content.screens.find((each) => each.slug === slug);
      if (screen?.hours == null) return null;
      if (rules.value === null) {
        if (!isAsked) void load();
        return null;
      }
      const now = clock.now();
      const starts = rules.value
        .openSpans(screen.hours as OpeningTime[], now, timeZone, DAYS_AHEAD)
        .map(({ start }) => start)
        .filter((start) => start > now);
      return starts.length === 0 ? null : format.when(new Date(Math.min(...starts)).toISOString(), now);
    },
  };
};
