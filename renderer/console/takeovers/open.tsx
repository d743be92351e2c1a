/** The takeovers that are on or still to come. */
import { useSignal } from '@preact/signals';
import { isCode } from '../api/errors.ts';
import { isRunning, slideOfTakeover } from '../model/shown.ts';
import type { Takeover } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Button } from '../ui/controls.tsx';
import { Miniature } from '../ui/miniature.tsx';

const TAG = 'tag:';

export const tagTarget = (tag: string): string => TAG + tag;

/** The tag that a target names; null: it names none. */
export const tagOf = (target: string): string | null => (target.startsWith(TAG) ? target.slice(TAG.length) : null);

/** Targets that are named; the rest are counted. */
const MOST_NAMES = 10;

const Open = ({ takeover }: { takeover: Takeover }) => {
  const { access, texts, format, client, site, announcer } = useConsole();
  const words = texts.takeover;
  const isEnding = useSignal(false);
  const { id, level, title, body, from, until, shown, expected, targets } = takeover;
  const isOn = isRunning(takeover, site.now());

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
      announcer.report(error);
    } finally {
      isEnding.value = false;
    }
  };

  const spanOf = (span: { isOn: boolean; from: string; until: string | null }): string => {
    const [start, time] = [span.from, span.until].map((at) => at && format.when(at, site.now()));
    if (time == null) return span.isOn ? words.untilEnded : words.fromUntilEnded({ from: start ?? '' });
    return span.isOn ? words.untilTime({ time }) : words.span({ from: start ?? '', until: time });
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
        <p class="soft">{spanOf({ isOn, from, until })}</p>
        {isOn && (
          <p class={shown < expected ? 'state warning' : 'state good'} role="status">
            {words.shownOn({ shown, expected })}
          </p>
        )}
      </div>
      {access.covers(targets, site.screens()) && (
        <Button class="danger" aria-disabled={isEnding.value} onClick={() => void end()}>
          {isOn ? words.end : words.callOff}
        </Button>
      )}
    </li>
  );
};

/** The active and upcoming takeovers: their screens, and a button to end them. */
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
