/** One playlist: its slides as a strip or a grid, the selected one as a form next to the player's preview. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import type { Design } from '../../../service/contract/console/designs.ts';
import { designPrefix } from '../../../service/contract/design-prefix.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { recall, remember } from '../../shared/storage.ts';
import { reasonOf } from '../api/errors.ts';
import { startValues } from '../model/designs.ts';
import { type ContentDocument, mediumName, type PlaylistDraft, type SlideDraft } from '../model/document.ts';
import {
  editPlaylist,
  editSlides,
  freeId,
  moveAll,
  randomEnd,
  replaceAt,
  setField,
  waitingSlides,
} from '../model/edit.ts';
import { screensByPlaylist } from '../model/playable.ts';
import { type How, keysOf, type Selection, select, selected, settled } from '../model/selection.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Empty } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { useReceive } from '../ui/receive.ts';
import { useWanted } from '../ui/wanted.ts';
import { AddSlide } from './add-slide.tsx';
import { Cards, type Layout } from './cards.tsx';
import { copiedSlides, isElsewhere, useSlideClipboard } from './clipboard.ts';
import { type Hovered, slidesOfFiles, useDroppedFiles } from './dropped.ts';
import { PlaylistOrder } from './playlist-order.tsx';
import { Preview } from './preview.tsx';
import { SelectedForm } from './selected-form.tsx';
import { isOnSchedule, screensThatCanShow } from './showable.ts';
import { SlideForm } from './slide-form.tsx';
import { SlideTools } from './slide-tools.tsx';

/** Screens that are named; the rest are counted. */
const MOST_SCREENS = 5;
/** Names of files in a sentence. */
const MOST_FILES = 5;

const MINUTE_MS = 60_000;

const layoutKey = 'signage.console.layout';
/** Slides that a strip shows at once; more of them begin as a grid where there is room. */
const STRIP_SLIDES = 7;

const recalledLayout = (slides: number): Layout => {
  const kept = recall(layoutKey);
  if (kept === 'grid' || kept === 'strip') return kept;
  return slides > STRIP_SLIDES && innerWidth >= 1024 ? 'grid' : 'strip';
};

const week = async () => (await import('./week.tsx')).Week;

/** Whether a key is meant for the slides: nothing has the focus, or a slide has. */
const isForSlides = ({ target }: KeyboardEvent): boolean =>
  target === document.body ||
  (target instanceof Element && !isElsewhere(target) && target.closest('.strip, .grid, main:focus') !== null);

/** Says where files that are dragged over the page would be. */
const DropNote = ({ hovered: { value: place } }: { hovered: ReadonlySignal<Hovered | null> }) => {
  const words = useConsole().texts.editor;
  if (place === null) return null;
  return <p class="drop-place">{place === 'end' ? words.dropAtEnd : words.dropAt({ place: place + 1 })}</p>;
};

interface PlaylistProps {
  document: ContentDocument;
  playlist: PlaylistDraft;
  /** The id of the slide that the address names. */
  slideId?: string | undefined;
  /** The field of it that has the focus. */
  field?: string | undefined;
}

export const Playlist = ({ document, playlist, slideId: wanted, field }: PlaylistProps) => {
  const {
    access,
    draft: openDraft,
    texts,
    format,
    announcer,
    media,
    documents,
    client,
    clock,
    site,
    timeZone,
  } = useConsole();
  const receive = useReceive();
  const draft = openDraft();
  // Keys, files and the clipboard reach the page where its fields are disabled.
  const mayEdit = access.may('PUT /console/api/drafts/:id') && draft.base.value?.isWhole === true;
  const words = texts.editor;
  const nameId = useId();
  const { id, slides } = playlist;
  const marked = useSignal<Selection>(selected([], null));
  /** The index of the one whose form was shown last. */
  const place = useRef(0);
  const isAdding = useSignal(false);
  const isWeek = useSignal(false);
  const isMany = useSignal(false);
  const layout = useSignal<Layout>(recalledLayout(slides.length));
  const at = document.playlists?.indexOf(playlist) ?? 0;
  const path = `playlists[${at}]`;
  const orderOf = (list: readonly SlideDraft[]): string[] =>
    keysOf(list.map((each, index) => slideId(id, each, index)));
  const order = orderOf(slides);
  const selection = settled(order, marked.value, place.current);
  const lead = Math.max(0, order.indexOf(selection.lead ?? ''));
  place.current = lead;
  /** Of the form: each slide has its own, which stays while another id is typed in it. */
  const form = useRef({ slide: '', key: 0 });
  const leadKey = order[lead] ?? '';
  if (form.current.slide !== leadKey) form.current = { slide: leadKey, key: form.current.key + 1 };
  const chosen = new Set(order.flatMap((key, index) => (selection.keys.has(key) ? index : [])));
  const end = chosen.size === 0 ? 0 : Math.max(...chosen) + 1;
  const slide = slides[lead];
  const check = draft.check.value;

  useEffect(() => {
    marked.value = wanted === undefined ? selected([], null) : selected([wanted], wanted);
    if (wanted === undefined) place.current = 0;
    void media.load();
  }, [id, wanted]);
  useWanted(undefined, wanted === undefined || selection.lead === wanted ? field : undefined, `${id} ${wanted}`);

  const change = (edit: (slides: readonly SlideDraft[]) => SlideDraft[], group?: string): void =>
    draft.edit(editSlides(document, id, edit), group);
  const ids = slides.flatMap((each) => each.id ?? []);
  const choose = (index: number, how: How): void => {
    const key = order[index];
    if (key === undefined) return;
    marked.value = select(order, selection, key, isMany.value && how === 'only' ? 'toggle' : how);
    if (marked.value.keys.size > 1) announcer.speak(words.selected({ count: marked.value.keys.size }));
  };

  /** Adds slides before the index `gap`, and selects them. */
  const insert = (added: readonly SlideDraft[], gap: number, into = document): void => {
    if (!mayEdit || added.length === 0) return;
    draft.edit(editSlides(into, id, (list) => [...list.slice(0, gap), ...added, ...list.slice(gap)]));
    const keys = added.flatMap((each) => each.id ?? []);
    marked.value = selected(keys, keys[0] ?? null);
    announcer.speak(words.added({ count: added.length }));
  };
  /** Copies with ids of their own. @param idOf the id that each would like to have */
  const copiesOf = (list: readonly SlideDraft[], idOf: (slide: SlideDraft) => string): SlideDraft[] => {
    const taken = new Set(ids);
    return list.map((each) => {
      const liked = idOf(each);
      const free = taken.has(liked) ? freeId(liked, taken, randomEnd()) : liked;
      taken.add(free);
      return { ...each, id: free };
    });
  };
  const add = (kind: string, ...mediaUrls: string[]): void => {
    isAdding.value = false;
    if (mediaUrls.length > 0) {
      const names = mediaUrls.map(mediumName);
      return insert(
        slidesOfFiles(names, [], ids, randomEnd()).map((each) => ({ ...each, kind })),
        end,
      );
    }
    const added: SlideDraft = {
      id: freeId(kind, ids, randomEnd()),
      kind,
      ...(kind === 'text' ? { title: words.newText } : {}),
      ...(kind === 'template' ? { template_id: document.templates?.[0]?.id ?? '' } : {}),
      ...(kind === 'playlist' ? { playlist_id: document.playlists?.find((each) => each.id !== id)?.id ?? '' } : {}),
      ...(kind === 'rss' ? { content: { feed_id: document.rssFeeds?.[0]?.id ?? '' } } : {}),
      ...(kind === 'timetable' ? { content: { group_id: document.timetableGroups?.[0]?.id ?? '' } } : {}),
      ...(kind === 'calendar' ? { content: { calendar_id: document.calendars?.[0]?.id ?? '' } } : {}),
    };
    insert([added], end);
  };
  const addDesign = (design: Design): void => {
    isAdding.value = false;
    const name = design.id.replace(designPrefix, '');
    const content = startValues(design, document);
    insert([{ id: freeId(name, ids, randomEnd()), kind: 'template', template_id: design.id, content }], end);
  };
  const addFiles = async (files: Iterable<File>, gap: number): Promise<void> => {
    if (!mayEdit) return;
    const names = await receive(files);
    const unshown = names.filter((name) => slidesOfFiles([name], [], []).length === 0);
    if (unshown.length > 0) {
      const named = format.list(unshown.slice(0, MOST_FILES));
      announcer.complain(words.noSlideShows({ count: unshown.length, names: named }));
    }
    const there = media.list.peek()?.media.map(({ filename }) => filename) ?? [];
    // The document may have changed meanwhile.
    const now = draft.content.peek();
    const list = now?.playlists?.find((each) => each.id === id)?.slides;
    if (now == null || list === undefined) return;
    const taken = list.flatMap((each) => each.id ?? []);
    insert(slidesOfFiles(names, waitingSlides(list, there), taken, randomEnd()), Math.min(gap, list.length), now);
  };
  const hovered = useDroppedFiles((files, gap) => addFiles(files, gap === 'pasted' ? end : (gap ?? slides.length)));

  const screens = screensByPlaylist(document).get(id) ?? [];
  const published = documents.current.value?.content;
  const wantedSlide = slide === undefined ? '' : slideId(id, slide, lead);
  const showable = useMemo(
    () =>
      published === undefined
        ? []
        : screensThatCanShow({
            content: published,
            playlistId: id,
            slideId: wantedSlide,
            at: clock.now(),
            timeZone,
            shownOn: (slug) =>
              site
                .screen(slug)
                ?.peek()
                .connections.map(({ currentSlideId }) => currentSlideId) ?? [],
          }),
    [published, id, wantedSlide, Math.floor(clock.now() / MINUTE_MS)],
  );
  const showNow = async (): Promise<void> => {
    if (published === undefined || showable.length === 0) return announcer.complain(words.notShowable);
    const question = { content: published, playlistId: id, slideId: wantedSlide, at: clock.now(), timeZone };
    if (!isOnSchedule(question)) return announcer.complain(words.notOnSchedule);
    const answers = await Promise.allSettled(
      showable.map((slug) =>
        client.json<{ sent: number }>(`/console/api/screens/${slug}/show`, {
          method: 'POST',
          body: { slide_id: wantedSlide },
        }),
      ),
    );
    // Of several screens one may have gone on to another playlist meanwhile.
    const sent = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.sent : []));
    const [refusal] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    if (sent.length > 0) announcer.say(words.shownNow({ count: sent.reduce((sum, each) => sum + each, 0) }));
    else announcer.complain(reasonOf(refusal, texts));
  };
  const chosenSlides = (): SlideDraft[] => slides.filter((_, index) => chosen.has(index));
  const withoutChosen = (): void => change((list) => list.filter((_, index) => !chosen.has(index)));
  const duplicate = (): void =>
    insert(
      copiesOf(chosenSlides(), (each) => each.id ?? each.kind),
      end,
    );
  const remove = (): void => {
    if (!mayEdit || chosen.size === 0) return;
    place.current = Math.min(...chosen);
    withoutChosen();
    announcer.say(words.slidesRemoved({ count: chosen.size }), { label: words.bringBack, act: draft.takeBack() });
  };
  const paste = (pasted: readonly SlideDraft[]): void =>
    insert(
      copiesOf(pasted, (each) => each.id ?? each.kind),
      end,
    );
  const clipboard = useSlideClipboard({
    selected: () => (mayEdit ? chosenSlides() : []),
    onCopied: (count) => announcer.say(words.copied({ count })),
    onCut: () => {
      place.current = Math.min(...chosen);
      withoutChosen();
      announcer.say(words.wasCut({ count: chosen.size }));
    },
    onPaste: paste,
  });
  const move = (indices: ReadonlySet<number>, gap: number): void => {
    const next = moveAll(order, indices, gap);
    if (next.every((key, index) => key === order[index])) return;
    change((list) => moveAll(list, indices, gap));
    const keys = order.filter((_, index) => indices.has(index));
    const first = keys.includes(selection.lead ?? '') ? selection.lead : (keys[0] ?? null);
    marked.value = selected(keys, first);
    announcer.speak(words.moved({ place: next.indexOf(first ?? '') + 1, count: slides.length }));
  };
  const moveBy = (by: -1 | 1): void => move(chosen, by < 0 ? Math.max(0, Math.min(...chosen) - 1) : end + 1);
  const set = (name: string, value: unknown): void =>
    draft.edit(
      editPlaylist(document, id, (each) => setField(each, name, value)),
      `${id} ${name}`,
    );

  const keys = useRef((_: KeyboardEvent): void => undefined);
  keys.current = (event) => {
    if (!isForSlides(event) || event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (isCommand && key === 'a') marked.value = { ...selected(order, selection.lead), anchor: selection.anchor };
    else if (isCommand && key === 'd') duplicate();
    else if (!isCommand && (key === 'delete' || key === 'backspace')) remove();
    else if (key === 'escape' && chosen.size > 1 && selection.lead !== null) {
      isMany.value = false;
      marked.value = selected([selection.lead], selection.lead);
    } else return;
    event.preventDefault();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => keys.current(event);
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return (
    <div class="playlist-page">
      <div class="row playlist-head">
        <a class="icon-button" href={hrefOf('content')} aria-label={words.allPlaylists}>
          <Icon name="back" />
        </a>
        <label class="unseen" for={nameId}>
          {words.playlistName}
        </label>
        <input
          id={nameId}
          class="title-input"
          value={playlist.name ?? ''}
          placeholder={id}
          onInput={(event) => set('name', event.currentTarget.value)}
        />
      </div>
      <div class="row playlist-facts">
        <p class="soft">
          {screens.length === 0
            ? words.unused
            : words.shownOn({ screens: format.few(screens, MOST_SCREENS, words.moreScreens) })}
        </p>
        <label class="check">
          <input
            type="checkbox"
            checked={playlist.fade_between_slides ?? true}
            onChange={(event) => set('fade_between_slides', event.currentTarget.checked ? undefined : false)}
          />
          <span>{words.fade}</span>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={playlist.sync ?? false}
            onChange={(event) => set('sync', event.currentTarget.checked ? true : undefined)}
          />
          <span>{words.sync}</span>
        </label>
      </div>
      <PlaylistOrder document={document} playlist={playlist} set={set} />
      <SlideTools
        count={chosen.size}
        isFirst={end === chosen.size}
        isLast={Math.min(...chosen) === slides.length - chosen.size}
        canPaste={copiedSlides().length > 0}
        isMany={isMany.value}
        layout={layout.value}
        isWeek={isWeek.value}
        onAdd={() => (isAdding.value = true)}
        onMove={moveBy}
        onDuplicate={duplicate}
        onCopy={clipboard.copy}
        onCut={clipboard.cut}
        onPaste={() => paste(copiedSlides())}
        onRemove={remove}
        onShow={() => void showNow()}
        onMany={() => (isMany.value = !isMany.value)}
        onLayout={() => {
          layout.value = layout.value === 'grid' ? 'strip' : 'grid';
          remember(layoutKey, layout.value);
        }}
        onWeek={() => (isWeek.value = !isWeek.value)}
      />
      {slides.length === 0 ? (
        <Empty title={words.noSlides}>
          <p>{words.noSlidesTask}</p>
        </Empty>
      ) : (
        <>
          <Cards
            playlist={playlist}
            path={path}
            check={check}
            layout={layout.value}
            chosen={chosen}
            lead={lead}
            onSelect={choose}
            onLasso={(indices, isAdded) => {
              const found = indices.flatMap((index) => order[index] ?? []);
              marked.value = selected([...(isAdded ? selection.keys : []), ...found], found[0] ?? null);
              announcer.speak(words.selected({ count: marked.value.keys.size }));
            }}
            onMove={move}
            hovered={hovered}
          />
          {isWeek.value && (
            <Lazy
              load={week}
              with={{ document, playlist, selected: lead, onSelect: (index: number) => choose(index, 'only') }}
            />
          )}
          {slide !== undefined && (
            <div class="editor">
              <Preview document={document} playlist={playlist} only={lead} />
              {chosen.size > 1 ? (
                <SelectedForm
                  slides={chosenSlides()}
                  onChange={(edit, group) =>
                    change(
                      (list) => list.map((each, index) => (chosen.has(index) ? edit(each) : each)),
                      group && `${id} ${[...selection.keys].join()} ${group}`,
                    )
                  }
                />
              ) : (
                <SlideForm
                  key={form.current.key}
                  slide={slide}
                  document={document}
                  path={`${path}.slides[${lead}]`}
                  check={check}
                  onChange={(next, group) => {
                    form.current.slide = orderOf(replaceAt(slides, lead, next))[lead] ?? '';
                    change((list) => replaceAt(list, lead, next), group && `${id} ${lead} ${group}`);
                  }}
                />
              )}
            </div>
          )}
        </>
      )}
      <DropNote hovered={hovered} />
      {isAdding.value && (
        <AddSlide
          document={document}
          onAdd={add}
          onDesign={addDesign}
          onFiles={(files) => {
            isAdding.value = false;
            void addFiles(files, end);
          }}
          onClose={() => (isAdding.value = false)}
        />
      )}
    </div>
  );
};
