/** One playlist: its slides as a strip, the selected one as a form next to the player's preview. */

import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { shownBy } from '../../../service/domain/media-types.ts';
import { reasonOf } from '../api/errors.ts';
import {
  type ContentDocument,
  mediumName,
  type PlaylistDraft,
  playlistOf,
  type SlideDraft,
} from '../model/document.ts';
import { editPlaylist, editSlides, freeId, insertAt, moveItem, removeAt, replaceAt, setField } from '../model/edit.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Dialog, Empty } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { MediaChooser } from '../ui/media-field.tsx';
import { kindIcon } from '../ui/miniature.tsx';
import { useReceive } from '../ui/receive.ts';
import { wordOf } from '../ui/words.ts';
import { slidesOfFiles, useDroppedFiles } from './dropped.ts';
import { Preview } from './preview.tsx';
import { SlideForm, slideKinds } from './slide-form.tsx';
import { Strip } from './strip.tsx';

/** Kinds whose medium is chosen first, and what fits. */
const pictured: Partial<Record<string, readonly string[]>> = shownBy;

/** Screens that are named; the rest are counted. */
const MOST_SCREENS = 5;

interface AddSlideProps {
  document: ContentDocument;
  onAdd(kind: string, ...mediaUrls: string[]): void;
  /** Files of this machine are chosen. */
  onFiles(files: File[]): void;
  onClose(): void;
}

/** Asks for the kind of a new slide, and for its medium, if any. */
export const AddSlide = ({ document, onAdd, onFiles, onClose }: AddSlideProps) => {
  const { texts } = useConsole();
  const words = texts.editor;
  const choosing = useSignal<string | null>(null);
  const lacks: Partial<Record<string, string>> = {
    ...(document.templates?.length ? {} : { template: words.noTemplates }),
    ...(document.rssFeeds?.length ? {} : { rss: words.noFeeds }),
    ...(document.timetableGroups?.length ? {} : { timetable: words.noGroups }),
    ...((document.playlists?.length ?? 0) > 1 ? {} : { playlist: words.noOtherPlaylist }),
  };
  if (choosing.value !== null) {
    const kind = choosing.value;
    return (
      <MediaChooser
        accepts={pictured[kind] ?? []}
        isMany
        onChoose={(...urls) => onAdd(kind, ...urls)}
        onFiles={onFiles}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={words.addTitle} onClose={onClose} isWide>
      <ul class="kinds">
        {slideKinds.map((kind) => (
          <li key={kind}>
            <button
              type="button"
              disabled={lacks[kind] !== undefined}
              onClick={() => {
                if (pictured[kind] === undefined) onAdd(kind);
                else choosing.value = kind;
              }}
            >
              <Icon name={kindIcon(kind)} />
              <strong>{wordOf(words.kind, kind)}</strong>
              <span class="soft">{lacks[kind] ?? wordOf(words.kindAbout, kind)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
};

const week = async () => (await import('./week.tsx')).Week;

interface PlaylistProps {
  document: ContentDocument;
  playlist: PlaylistDraft;
}

export const Playlist = ({ document, playlist }: PlaylistProps) => {
  const { draft: openDraft, texts, format, announcer, media, documents, client } = useConsole();
  const receive = useReceive();
  const draft = openDraft();
  const words = texts.editor;
  const nameId = useId();
  const chosen = useSignal(0);
  const isAdding = useSignal(false);
  const isWeek = useSignal(false);
  const at = document.playlists?.indexOf(playlist) ?? 0;
  const path = `playlists[${at}]`;
  const { id, slides } = playlist;
  const selected = Math.min(chosen.value, slides.length - 1);
  const slide = slides[selected];
  const check = draft.check.value;

  useEffect(() => {
    chosen.value = 0;
    void media.load();
  }, [id]);

  const change = (edit: (slides: readonly SlideDraft[]) => SlideDraft[], group?: string): void =>
    draft.edit(editSlides(document, id, edit), group);
  const ids = slides.flatMap((each) => each.id ?? []);

  /** Adds slides before the index `gap`, and selects the first of them. */
  const insert = (added: readonly SlideDraft[], gap: number): void => {
    if (added.length === 0) return;
    change((list) => [...list.slice(0, gap), ...added, ...list.slice(gap)]);
    chosen.value = gap;
    announcer.speak(words.added({ count: added.length }));
  };
  const add = (kind: string, ...mediaUrls: string[]): void => {
    isAdding.value = false;
    if (mediaUrls.length > 0) {
      const names = mediaUrls.map(mediumName);
      return insert(
        slidesOfFiles(names, [], ids).map((each) => ({ ...each, kind })),
        selected + 1,
      );
    }
    const added: SlideDraft = {
      id: freeId(kind, ids),
      kind,
      ...(kind === 'text' ? { title: words.newText } : {}),
      ...(kind === 'template' ? { template_id: document.templates?.[0]?.id ?? '' } : {}),
      ...(kind === 'playlist' ? { playlist_id: document.playlists?.find((each) => each.id !== id)?.id ?? '' } : {}),
      ...(kind === 'rss' ? { content: { feed_id: document.rssFeeds?.[0]?.id ?? '' } } : {}),
      ...(kind === 'timetable' ? { content: { group_id: document.timetableGroups?.[0]?.id ?? '' } } : {}),
    };
    insert([added], selected + 1);
  };
  const addFiles = (files: Iterable<File>, gap: number): void =>
    insert(slidesOfFiles(receive(files), slides, ids), gap);
  useDroppedFiles((files, gap) => addFiles(files, gap === 'pasted' ? selected + 1 : (gap ?? slides.length)));
  const screens = document.screens.filter((screen) => screen.playlist_id === id);
  /** The slugs of those whose displays have the selected slide. */
  const published = documents.current.value?.content;
  const showable = screens.flatMap(({ slug }) =>
    published !== undefined && playlistOf(published, slug)?.slides.some((each) => each.id === (slide?.id ?? ''))
      ? slug
      : [],
  );
  const showNow = async (): Promise<void> => {
    try {
      const results = await Promise.all(
        showable.map((slug) =>
          client.json<{ sent: number }>(`/console/api/screens/${slug}/show`, {
            method: 'POST',
            body: { slide_id: slide?.id },
          }),
        ),
      );
      announcer.say(words.shownNow({ count: results.reduce((sum, { sent }) => sum + sent, 0) }));
    } catch (error) {
      announcer.complain(reasonOf(error, texts));
    }
  };
  const duplicate = (): void => {
    if (slide === undefined) return;
    change((list) => insertAt(list, selected + 1, { ...slide, id: freeId(`${slide.id ?? slide.kind}-copy`, ids) }));
    chosen.value = selected + 1;
  };
  const remove = (): void => {
    change((list) => removeAt(list, selected));
    announcer.say(words.removed);
  };
  const move = (from: number, to: number): void => {
    if (to < 0 || to >= slides.length || from === to) return;
    change((list) => moveItem(list, from, to));
    chosen.value = to;
    announcer.speak(words.moved({ place: to + 1, count: slides.length }));
  };
  const set = (name: string, value: unknown): void =>
    draft.edit(
      editPlaylist(document, id, (each) => setField(each, name, value)),
      `${id} ${name}`,
    );

  return (
    <>
      <div class="playlist-head">
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
      <p class="soft playlist-screens">
        {screens.length === 0
          ? words.unused
          : words.shownOn({
              screens: format.few(
                screens.map(({ name }) => name),
                MOST_SCREENS,
                words.moreScreens,
              ),
            })}
      </p>
      <div class="strip-tools buttons">
        <button type="button" class="button small primary" onClick={() => (isAdding.value = true)}>
          <Icon name="plus" /> {words.add}
        </button>
        <button
          type="button"
          class="button small"
          disabled={slide === undefined || selected === 0}
          aria-label={words.moveBack}
          onClick={() => move(selected, selected - 1)}
        >
          <Icon name="left" />
        </button>
        <button
          type="button"
          class="button small"
          disabled={slide === undefined || selected === slides.length - 1}
          aria-label={words.moveOn}
          onClick={() => move(selected, selected + 1)}
        >
          <Icon name="right" />
        </button>
        <button type="button" class="button small" disabled={slide === undefined} onClick={duplicate}>
          <Icon name="copy" /> {words.duplicate}
        </button>
        <button type="button" class="button small" disabled={slide === undefined} onClick={remove}>
          <Icon name="forget" /> {words.remove}
        </button>
        <button type="button" class="button small" disabled={showable.length === 0} onClick={() => void showNow()}>
          <Icon name="screens" /> {words.showNow}
        </button>
        <button
          type="button"
          class="button small"
          aria-pressed={isWeek.value}
          onClick={() => (isWeek.value = !isWeek.value)}
        >
          <Icon name="timetable" /> {texts.week.title}
        </button>
      </div>
      {slides.length === 0 ? (
        <Empty title={words.noSlides}>
          <p>{words.noSlidesTask}</p>
        </Empty>
      ) : (
        <>
          <Strip
            playlist={playlist}
            path={path}
            check={check}
            selected={selected}
            onSelect={(index) => {
              chosen.value = index;
            }}
            onMove={move}
          />
          {isWeek.value && (
            <Lazy
              load={week}
              with={{ document, playlist, selected, onSelect: (index: number) => (chosen.value = index) }}
            />
          )}
          {slide !== undefined && (
            <div class="editor">
              <Preview document={document} playlist={playlist} only={selected} />
              <SlideForm
                key={`${slide.id ?? selected}`}
                slide={slide}
                document={document}
                path={`${path}.slides[${selected}]`}
                check={check}
                onChange={(next, group) =>
                  change((list) => replaceAt(list, selected, next), `${id} ${selected} ${group}`)
                }
              />
            </div>
          )}
        </>
      )}
      {isAdding.value && (
        <AddSlide
          document={document}
          onAdd={add}
          onFiles={(files) => {
            isAdding.value = false;
            addFiles(files, selected + 1);
          }}
          onClose={() => (isAdding.value = false)}
        />
      )}
    </>
  );
};
