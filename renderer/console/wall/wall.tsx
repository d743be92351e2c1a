/** All screens of the site, all boxes together. */
import { useComputed, useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { byUrgency, type Display, displaysOf, stateOfScreen, toneOf } from '../model/displays.ts';
import { applyFilter, countGroups, type Filter, groups, noFilter, tagsOf } from '../model/filter.ts';
import { shownSlide } from '../model/shown.ts';
import { titleOf } from '../model/titles.ts';
import type { SiteScreen } from '../model/wire.ts';
import { hrefOf } from '../stores/router.ts';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from '../ui/context.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { View } from '../ui/view.tsx';
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
          <p class="address">{`${location.host}/screen/${slug}`}</p>
        </div>
      ) : (
        <ul class="displays">
          {displays.slice(0, PICTURED).map((display) => (
            <DisplayTile key={display.key} display={display} slug={slug} />
          ))}
        </ul>
      )}
      {isNear && rest.length > 0 && (
        <div class="more-displays">
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

/** More tiles than this are smaller. */
const DENSE = 40;

const Skeleton = () => (
  <div class="wall" aria-hidden="true">
    {Array.from({ length: 6 }, (_, index) => (
      <div key={index} class="tile skeleton" />
    ))}
  </div>
);

export const Wall = () => {
  const { site, texts, session } = useConsole();
  const words = texts.wall;
  const text = useSignal('');
  const filter = useSignal<Omit<Filter, 'text'>>(noFilter);
  const found = useComputed(() => {
    const screens = site.screens();
    return {
      tags: tagsOf(screens),
      counts: countGroups(screens),
      displays: screens.reduce((sum, screen) => sum + displaysOf(screen).length, 0),
    };
  }).value;
  // A list of slugs: the tile of a changed screen renders on its own.
  const slugs = useComputed(() =>
    applyFilter(site.screens(), { text: text.value, ...filter.value })
      .map(({ screen }) => screen.slug)
      .join(' '),
  );
  const isLoaded = site.overview.value !== null;
  const count = site.slugs.value.length;
  const change = (changed: Partial<Omit<Filter, 'text'>>): void => {
    filter.value = { ...filter.value, ...changed };
  };

  if (!isLoaded) {
    return (
      <>
        <div class="page-head">
          <h1>{words.title}</h1>
        </div>
        {site.error.value !== null && !session.isAsking.value ? (
          <div class="empty">
            <p>{reasonOf(site.error.value, texts)}</p>
            <button type="button" class="button" onClick={() => void site.refresh()}>
              {texts.retry}
            </button>
          </div>
        ) : (
          <Skeleton />
        )}
      </>
    );
  }
  const shown = slugs.value === '' ? [] : slugs.value.split(' ');
  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        <p class="soft">
          {words.summary({ screens: words.screens({ count }), displays: words.displays({ count: found.displays }) })}
        </p>
      </div>
      {count === 0 ? (
        <div class="empty">
          <h2>{words.empty}</h2>
          <p>{words.emptyTask}</p>
          <a class="button primary" href={hrefOf('content', 'screens')}>
            {words.emptyLink}
          </a>
        </div>
      ) : (
        <>
          <search class="filters" aria-label={words.filter}>
            <SearchField label={words.search} text={text} />
            <fieldset class="chips">
              <legend class="unseen">{words.groups}</legend>
              {[null, ...groups].map((group) => (
                <label key={group ?? 'all'} class="chip">
                  <input
                    type="radio"
                    name="group"
                    checked={filter.value.group === group}
                    onChange={() => change({ group })}
                  />
                  <span>
                    {group === null ? words.all : words.group[group]}{' '}
                    <b>{group === null ? count : found.counts[group]}</b>
                  </span>
                </label>
              ))}
            </fieldset>
            {found.tags.length > 0 && (
              <label class="select">
                <span class="unseen">{words.tag}</span>
                <select
                  value={filter.value.tag ?? ''}
                  onChange={(event) => change({ tag: event.currentTarget.value || null })}
                >
                  <option value="">{words.allTags}</option>
                  {found.tags.map((tag) => (
                    <option key={tag} value={tag}>
                      {tag}
                    </option>
                  ))}
                </select>
              </label>
            )}
          </search>
          {shown.length === 0 ? (
            <div class="empty">
              <p>{words.none}</p>
              <button
                type="button"
                class="button"
                onClick={() => {
                  text.value = '';
                  filter.value = noFilter;
                }}
              >
                {words.clear}
              </button>
            </div>
          ) : (
            <div class={shown.length > DENSE ? 'wall dense' : 'wall'}>
              {shown.map((slug) => (
                <Tile key={slug} slug={slug} />
              ))}
            </div>
          )}
        </>
      )}
    </>
  );
};
