/** All screens of the site, all boxes together. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { displaysOf } from '../model/displays.ts';
import { applyFilter, countGroups, type Filter, type Group, groups, noFilter, tagsOf } from '../model/filter.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Empty, Failure, SearchField } from '../ui/controls.tsx';
import { Tile } from './tile.tsx';
import { Waiting } from './waiting.tsx';

/** Groups that are offered even where no screen is in them. */
const usual: readonly Group[] = ['attention', 'playing'];
/** More tiles than this are smaller. */
const DENSE = 40;

/** Tiles that are there at once, and those that each frame adds: a thousand together would hold the page up. */
const FIRST = 60;
const PER_FRAME = 30;

/** How many of the tiles are rendered. @param count of all */
const useGradual = (count: number): number => {
  const [limit, setLimit] = useState(FIRST);
  const reached = Math.min(limit, Math.max(FIRST, count));
  useEffect(() => {
    if (reached >= count) {
      setLimit(reached);
      return undefined;
    }
    const frame = requestAnimationFrame(() => setLimit(reached + PER_FRAME));
    return () => cancelAnimationFrame(frame);
  }, [reached, count]);
  return reached;
};

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
  const shown = slugs.value === '' ? [] : slugs.value.split(' ');
  const rendered = useGradual(shown.length);
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
          <Failure reason={site.error.value} onRetry={() => void site.refresh()} />
        ) : (
          <Skeleton />
        )}
      </>
    );
  }
  const isOffered = (group: Group): boolean =>
    usual.includes(group) || found.counts[group] > 0 || filter.value.group === group;
  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        <p class="soft">
          {words.summary({ screens: words.screens({ count }), displays: words.displays({ count: found.displays }) })}
        </p>
      </div>
      <Waiting />
      {count === 0 ? (
        <Empty title={words.empty}>
          <p>{words.emptyTask}</p>
          <a class="button primary" href={hrefOf('content', 'screens')}>
            {words.emptyLink}
          </a>
        </Empty>
      ) : (
        <>
          <search class="row filters" aria-label={words.filter}>
            <SearchField label={words.search} text={text} />
            <fieldset class="chips">
              <legend class="unseen">{words.groups}</legend>
              {[null, ...groups.filter(isOffered)].map((group) => (
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
            <Empty>
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
            </Empty>
          ) : (
            <div class={shown.length > DENSE ? 'wall dense' : 'wall'}>
              {shown.slice(0, rendered).map((slug) => (
                <Tile key={slug} slug={slug} />
              ))}
            </div>
          )}
        </>
      )}
    </>
  );
};
