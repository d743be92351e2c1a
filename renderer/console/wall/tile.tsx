/** One screen on the wall, with its displays. */
import { useMemo, useRef } from 'preact/hooks';
import { byUrgency, type Display, displaysOf, stateOfScreen, toneOf } from '../model/displays.ts';
import { titleOf } from '../model/document.ts';
import { shownSlide } from '../model/shown.ts';
import type { SiteScreen } from '../model/wire.ts';
import { hrefOf, screenAddress } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { FaultNote, View } from '../ui/view.tsx';
import { useVisible } from '../ui/visible.ts';
import { useWords } from '../ui/words.ts';

/** Displays with a picture; further ones are dots. */
const PICTURED = 4;

const DisplayTile = ({ display, slug }: { display: Display; slug: string }) => {
  const { documents, site, texts } = useConsole();
  const words = useWords();
  const slide = shownSlide(
    display.connection,
    slug,
    documents.current.value?.content ?? null,
    site.overview.value?.takeovers ?? [],
  );
  return (
    <li class="display">
      <View display={display} slide={slide} />
      <p class="display-name" dir="auto">
        {display.name ?? texts.unnamed}
      </p>
      <p class="display-slide" dir="auto">
        {slide === null ? (display.connection?.currentSlideTitle ?? ' ') : titleOf(slide.slide, slide.id)}
      </p>
      <p class={`state ${toneOf[display.state]}`}>{words(display, slug)}</p>
      <FaultNote display={display} slug={slug} />
    </li>
  );
};

/**
 * A page can have a thousand of these: it renders again only when its screen has changed, and its displays only while it
 * is near the viewport. The name is always there, for in-page search and screen readers.
 */
export const Tile = ({ slug }: { slug: string }) => {
  const { site, texts } = useConsole();
  const tile = useRef<HTMLElement>(null);
  const isNear = useVisible(tile);
  const screen: SiteScreen | undefined = site.screen(slug)?.value;
  const displays = useMemo(() => (screen === undefined ? [] : displaysOf(screen).toSorted(byUrgency)), [screen]);
  const words = useWords();
  if (screen === undefined) return null;
  const rest = displays.slice(PICTURED);
  const state = stateOfScreen(displays);
  const size = displays.length < 2 ? '' : displays.length === 2 ? 'two' : 'many';
  return (
    <article ref={tile} class={`tile ${size}`} data-state={state ?? 'empty'}>
      <h2 dir="auto">
        <a href={hrefOf('screens', slug)}>{screen.screen.name}</a>
      </h2>
      {!isNear ? null : displays.length === 0 ? (
        <div class="no-display">
          <p class="state quiet">{texts.noDisplay}</p>
          <p>{texts.wall.noDisplayTask}</p>
          <p class="address">{screenAddress(slug, site.overview.value).replace(/^https?:\/\//, '')}</p>
        </div>
      ) : (
        <ul class="displays">
          {displays.slice(0, PICTURED).map((display) => (
            <DisplayTile key={display.key} display={display} slug={slug} />
          ))}
        </ul>
      )}
      {isNear && rest.length > 0 && (
        <div class="row more-displays">
          <ul class="dots">
            {rest.map((display) => (
              <li
                key={display.key}
                class={`dot ${toneOf[display.state]}`}
                title={`${display.name ?? texts.unnamed}: ${words(display, slug)}`}
              >
                <span class="unseen">{`${display.name ?? texts.unnamed}: ${words(display, slug)}`}</span>
              </li>
            ))}
          </ul>
          <span>{texts.wall.more({ count: rest.length })}</span>
        </div>
      )}
      {screen.tags.length > 0 && (
        <ul class="tags">
          {screen.tags.map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      )}
    </article>
  );
};
