/** The state of a display in words. */
import { type Display, takeoverIdOf } from '../model/displays.ts';
import { type Doer, doerOf, starterOf } from '../model/doers.ts';
import { useConsole } from './context.tsx';

/** The name of who did something: of a person, of a trigger, or of somebody. */
export const useDoerName = (): ((doer: Doer | null) => string) => {
  const { texts } = useConsole();
  return (doer) => {
    if (doer?.isTrigger) return texts.trigger({ name: doer.name ?? '' });
    return doer?.name ?? texts.somebody;
  };
};

export const useWords = () => {
  const { texts, format, clock, hours, audit, site } = useConsole();
  const nameOf = useDoerName();
  const stateInWords = (
    { state, device, connection }: Pick<Display, 'state' | 'device' | 'connection'>,
    slug: string,
  ): string => {
    const { state: words } = texts;
    const until = state === 'closed' ? hours.opensAt(slug) : null;
    if (until !== null) return words.closedUntil({ until });
    if (state === 'away' && device?.lastSeenAt != null) {
      return words.awaySince({ since: format.when(device.lastSeenAt, clock.now()) });
    }
    if (state === 'black' && device?.off) return words.off;
    if (state === 'redirected' && connection !== null) {
      return words.redirectedTo({ page: connection.page.replace(/^https?:\/\//, '') });
    }
    return words[state];
  };
  const whoseTakeover = (slideId: string | null): Doer | null => {
    const takeover = site.overview.value?.takeovers.find(({ id }) => id === takeoverIdOf(slideId));
    if (takeover === undefined) return null;
    const starter = starterOf(audit.records.value, takeover.id);
    return { name: starter?.name ?? null, isTrigger: starter?.isTrigger ?? false, at: takeover.from };
  };
  return (display: Pick<Display, 'state' | 'device' | 'connection'>, slug: string): string => {
    const who =
      display.state === 'takeover'
        ? whoseTakeover(display.connection?.currentSlideId ?? null)
        : doerOf(audit.records.value, display, { slug, tags: site.screen(slug)?.value.tags ?? [] });
    const words = stateInWords(display, slug);
    return who === null ? words : texts.by({ words, name: nameOf(who), time: format.when(who.at, clock.now()) });
  };
};

/** The word for `key`, or the key itself: documents can hold keys that the console does not know. */
export const wordOf = (words: Readonly<Record<string, string>>, key: string): string => words[key] ?? key;
