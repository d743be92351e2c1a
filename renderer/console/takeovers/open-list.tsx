/** The active and upcoming takeovers: their screens, and a button to end them. */
import { useSignal } from '@preact/signals';
import { isCode } from '../api/errors.ts';
import { slideOfTakeover } from '../model/shown.ts';
import { tagOf } from '../model/targets.ts';
import type { Takeover } from '../model/wire.ts';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from '../ui/context.tsx';
import { Miniature } from '../ui/miniature.tsx';

/** Targets that are named; the rest are counted. */
const MOST_NAMES = 10;

const Open = ({ takeover }: { takeover: Takeover }) => {
  const { texts, format, clock, client, site, announcer } = useConsole();
  const words = texts.takeover;
  const isEnding = useSignal(false);
  const { id, level, title, body, from, until, shown, expected, targets } = takeover;
  const isOn = Date.parse(from) <= clock.now();

  const end = async (): Promise<void> => {
    isEnding.value = true;
    try {
      await client.json(`/console/api/takeovers/${id}`, { method: 'DELETE' }).catch((error: unknown) => {
        // It was already ended elsewhere.
        if (!isCode(error, 'takeover_not_found')) throw error;
      });
      await site.refresh();
      announcer.say(words.ended);
    } catch (error) {
      announcer.complain(reasonOf(error, texts));
    } finally {
      isEnding.value = false;
    }
  };

  const names = targets.map((target) => {
    const tag = tagOf(target);
    if (target === 'all') return words.everywhere;
    return tag === null ? (site.screen(target)?.value.screen.name ?? target) : words.withTag({ tag });
  });
  return (
    <li class={`takeover ${level}`}>
      <div class="takeover-picture">
        <Miniature slide={slideOfTakeover(takeover)} id={`takeover-${id}`} />
      </div>
      <div class="takeover-about">
        <p class={`level ${level}`}>{texts.level[level]}</p>
        <h3>{title ?? body ?? words.pictureAlone}</h3>
        <p class="soft">{format.few(names, MOST_NAMES, texts.wall.more)}</p>
        <p class="soft">
          {isOn
            ? words.untilTime({ time: format.when(until, clock.now()) })
            : words.span({ from: format.when(from, clock.now()), until: format.when(until, clock.now()) })}
        </p>
        {isOn && (
          <p class={shown < expected ? 'state warning' : 'state good'} role="status">
            {words.shownOn({ shown, expected })}
          </p>
        )}
      </div>
      <button type="button" class="button danger" aria-disabled={isEnding.value} onClick={() => void end()}>
        {isOn ? words.end : words.callOff}
      </button>
    </li>
  );
};

export const OpenTakeovers = () => {
  const { site, texts } = useConsole();
  const takeovers = site.overview.value?.takeovers ?? [];
  if (takeovers.length === 0) return null;
  return (
    <section class="open-takeovers">
      <h2>{texts.takeover.open}</h2>
      <ul>
        {takeovers.map((takeover) => (
          <Open key={takeover.id} takeover={takeover} />
        ))}
      </ul>
    </section>
  );
};
