/** One screen: its picture large, its displays, commands, and what it plays. */
import { useSignal } from '@preact/signals';
import { byUrgency, chosenDisplay, type Display, displaysOf } from '../model/displays.ts';
import { titleOf } from '../model/document.ts';
import { shownSlide } from '../model/shown.ts';
import { hrefOf, screenAddress } from '../stores/router.ts';
import { Address } from '../ui/address.tsx';
import { useConsole } from '../ui/context.tsx';
import { Empty } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { View } from '../ui/view.tsx';
import { Commands } from './commands.tsx';
import { Displays } from './displays.tsx';
import { Mirror } from './mirror.tsx';
import { PlanPanel } from './plan-panel.tsx';

const NoDisplay = ({ slug }: { slug: string }) => {
  const { site, texts } = useConsole();
  const words = texts.screenPage;
  const address = screenAddress(slug, site.overview.value);
  return (
    <div class="no-display">
      <p class="state quiet">{texts.noDisplay}</p>
      <p>{texts.wall.noDisplayTask}</p>
      <Address url={address} label={words.address} code={words.code} />
    </div>
  );
};

/** A display is photographed at most once in 5 s. */
const PHOTO_MS = 5_200;

export const ScreenPage = ({ slug }: { slug: string }) => {
  const { access, site, documents, texts } = useConsole();
  /** As it was when it was chosen; null: commands go to all. */
  const chosen = useSignal<Display | null>(null);
  const isKnown = site.slugs.value.includes(slug);
  const screen = isKnown ? site.screen(slug)?.value : undefined;
  if (site.overview.value === null) return <p class="soft">{texts.loading}</p>;
  if (screen === undefined) {
    return (
      <Empty>
        <h1>{texts.screenPage.gone}</h1>
        <a class="button" href={hrefOf('screens')}>
          {texts.screenPage.back}
        </a>
      </Empty>
    );
  }
  const listed = displaysOf(screen).toSorted(byUrgency);
  const selected = chosen.value === null ? null : chosenDisplay(listed, chosen.value);
  const displays = selected === null || listed.includes(selected) ? listed : [...listed, selected];
  const target = selected ?? (displays.length === 1 ? displays[0] : null);
  const pictured = target ?? displays.find(({ connection }) => connection !== null) ?? displays[0];
  const content = documents.current.value?.content ?? null;
  const shown = shownSlide(pictured?.connection ?? null, slug, content, site.overview.value.takeovers);
  return (
    <>
      <div class="page-head">
        <a class="icon-button" href={hrefOf('screens')} aria-label={texts.screenPage.back}>
          <Icon name="back" />
        </a>
        <h1>{screen.screen.name}</h1>
        <div class="actions buttons">
          {screen.screen.playlist_id !== null && (
            <a class="button small" href={hrefOf('content', 'playlists', screen.screen.playlist_id)}>
              {texts.screenPage.edit}
            </a>
          )}
          <a class="button small" href={hrefOf('content', 'week', slug)}>
            {texts.week.title}
          </a>
          <a class="button small" href={`/screen/${slug}`} target="_blank" rel="noreferrer">
            {texts.screenPage.open}
          </a>
        </div>
      </div>
      <div class="screen-page">
        <div class="screen-main">
          {pictured === undefined ? (
            <NoDisplay slug={slug} />
          ) : (
            <figure class="large-view">
              <View key={pictured.key} display={pictured} slide={shown} every={PHOTO_MS}>
                {pictured.connection !== null && pictured.connection.currentSlideId !== null && (
                  <Mirror slug={slug} connection={pictured.connection} slide={shown} />
                )}
              </View>
              <figcaption>
                <strong>{pictured.name ?? texts.unnamed}</strong>{' '}
                <span class="soft">
                  {shown === null ? pictured.connection?.currentSlideTitle : titleOf(shown.slide, shown.id)}
                </span>
              </figcaption>
            </figure>
          )}
          {displays.length > 0 && access.may('POST /api/screens/:slug/commands', [screen.tags]) && (
            <Commands slug={slug} displays={displays} target={target ?? null} />
          )}
        </div>
        <div class="screen-side">
          {displays.length > 0 && (
            <Displays
              slug={slug}
              displays={displays}
              selected={selected?.key ?? null}
              onSelect={(display) => {
                chosen.value = display;
              }}
            />
          )}
          <PlanPanel slug={slug} current={pictured?.connection?.currentSlide ?? null} />
        </div>
      </div>
    </>
  );
};
