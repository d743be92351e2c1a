/** All playlists, each as a strip of miniatures, and the screens that show it. */
import { useSignal } from '@preact/signals';
import type { Slide } from '../../../service/contract/playlist.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { type ContentDocument, issuesAt, type PlaylistDraft } from '../model/document.ts';
import { freeId, insertAt, setList, withoutPlaylist } from '../model/edit.ts';
import { screensByPlaylist } from '../model/playable.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Empty, FormDialog, IconButton, SearchField } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { SelectField, TextField } from '../ui/inputs.tsx';
import { Miniature } from '../ui/miniature.tsx';
import { FoundSlides } from './found-slides.tsx';

/** Miniatures of a strip; the rest are counted. */
const SHOWN = 8;
/** Screens that are named, in the list and where a playlist is deleted; the rest are counted. */
const NAMED = 3;
const NAMED_ON_REMOVAL = 20;

interface RowProps {
  document: ContentDocument;
  playlist: PlaylistDraft;
  index: number;
  /** Names of the screens on which it plays. */
  screens: readonly string[];
}

const Row = ({ document, playlist, index, screens }: RowProps) => {
  const { draft: openDraft, texts, format, router, announcer } = useConsole();
  const draft = openDraft();
  const words = texts.editor;
  const isRemoving = useSignal(false);
  const { id, name, slides } = playlist;
  /** Those that would show nothing without it. */
  const emptied = document.screens.filter((screen) => screen.playlist_id === id).map((screen) => screen.name);
  /** Those that play its slides between their own. */
  const around = (document.playlists ?? []).filter(
    (each) =>
      each.insert?.playlist_id === id ||
      each.slides.some(({ kind, playlist_id }) => kind === 'playlist' && playlist_id === id),
  );
  const among = slides.map((slide, at) => ({ id: slideId(id, slide, at), kind: slide.kind as Slide['kind'] }));
  const errors = issuesAt(draft.check.value?.errors ?? [], `playlists[${index}]`).length;
  const warnings = issuesAt(draft.check.value?.warnings ?? [], `playlists[${index}]`).length;
  const playlists = document.playlists ?? [];

  const duplicate = (): void => {
    const copyId = freeId(
      `${id}-copy`,
      playlists.map((each) => each.id),
    );
    const copy = { ...playlist, id: copyId, name: words.copyOf({ name: name || id }) };
    draft.edit(setList(document, 'playlists', insertAt(playlists, index + 1, copy)));
    router.go('content', 'playlists', copyId);
  };
  const remove = (): void => {
    isRemoving.value = false;
    draft.edit(withoutPlaylist(document, id));
    announcer.say(words.recordRemoved({ name: name || id }), { label: words.bringBack, act: draft.takeBack() });
  };

  return (
    <li class="playlist-row">
      <div class="playlist-about">
        <h2>
          <a href={hrefOf('content', 'playlists', id)}>{name || id}</a>
        </h2>
        <p class="soft">
          {words.slideCount({ count: slides.length })}
          {screens.length > 0 && ` · ${words.shownOn({ screens: format.few(screens, NAMED, words.moreScreens) })}`}
          {screens.length === 0 && ` · ${words.unused}`}
        </p>
        {errors > 0 && <p class="state bad">{texts.draft.errors({ count: errors })}</p>}
        {warnings > 0 && <p class="state warning">{texts.draft.warnings({ count: warnings })}</p>}
      </div>
      <ul class="mini-strip" aria-hidden="true">
        {slides.slice(0, SHOWN).map((slide, at) => (
          <li key={among[at]?.id}>
            <Miniature slide={slide} id={among[at]?.id ?? ''} among={among} />
          </li>
        ))}
        {slides.length > SHOWN && <li class="mini-more">+{slides.length - SHOWN}</li>}
      </ul>
      <div class="buttons playlist-actions">
        <IconButton icon="copy" label={words.duplicateOf({ name: name || id })} onClick={duplicate} />
        <IconButton
          icon="forget"
          label={words.removeOf({ name: name || id })}
          onClick={() => (isRemoving.value = true)}
        />
      </div>
      {isRemoving.value && (
        <Confirm
          title={words.removeTitle({ name: name || id })}
          submit={words.remove}
          isDanger
          onClose={() => (isRemoving.value = false)}
          onSubmit={remove}
        >
          <p>
            {screens.length === 0
              ? words.removeUnused
              : (emptied.length > 0 ? words.removeUsed : words.removePlays)({
                  screens: format.few(emptied.length > 0 ? emptied : screens, NAMED_ON_REMOVAL, words.moreScreens),
                })}
          </p>
          {around.length > 0 && (
            <p>
              {words.removeNested({
                playlists: format.few(
                  around.map((each) => each.name || each.id),
                  NAMED_ON_REMOVAL,
                  texts.wall.more,
                ),
              })}
            </p>
          )}
        </Confirm>
      )}
    </li>
  );
};

const NewPlaylist = ({ document, onClose }: { document: ContentDocument; onClose(): void }) => {
  const { draft: openDraft, texts, router } = useConsole();
  const draft = openDraft();
  const words = texts.editor;
  const create = (form: FormData): void => {
    const name = String(form.get('name')).trim() || words.newPlaylist;
    const playlists = document.playlists ?? [];
    const id = freeId(
      name,
      playlists.map((each) => each.id),
    );
    const slug = String(form.get('screen'));
    const next = setList(document, 'playlists', [...playlists, { id, name, slides: [] }]);
    draft.edit(
      setList(
        next,
        'screens',
        next.screens.map((screen) => (screen.slug === slug ? { ...screen, playlist_id: id } : screen)),
      ),
    );
    onClose();
    router.go('content', 'playlists', id);
  };
  return (
    <FormDialog title={words.newPlaylist} submit={words.create} onClose={onClose} onSubmit={create}>
      <TextField label={words.playlistName} name="name" autocomplete="off" />
      <SelectField
        label={words.showOn}
        name="screen"
        options={[['', words.later], ...document.screens.map(({ slug, name }) => [slug, name] as const)]}
      />
    </FormDialog>
  );
};

export const Playlists = ({ document }: { document: ContentDocument }) => {
  const { texts } = useConsole();
  const words = texts.editor;
  const isAdding = useSignal(false);
  const search = useSignal('');
  const playlists = document.playlists ?? [];
  const screens = screensByPlaylist(document);
  return (
    <>
      <div class="row chooser-head">
        <Button onClick={() => (isAdding.value = true)}>
          <Icon name="plus" /> {words.newPlaylist}
        </Button>
        {playlists.length > 0 && <SearchField label={words.search} text={search} />}
      </div>
      {search.value.trim() !== '' ? (
        <FoundSlides playlists={playlists} text={search.value} />
      ) : playlists.length === 0 ? (
        <Empty title={words.noPlaylists}>
          <p>{words.noPlaylistsTask}</p>
        </Empty>
      ) : (
        <ul class="playlists">
          {playlists.map((playlist, index) => (
            <Row
              key={playlist.id}
              document={document}
              playlist={playlist}
              index={index}
              screens={screens.get(playlist.id) ?? []}
            />
          ))}
        </ul>
      )}
      {isAdding.value && <NewPlaylist document={document} onClose={() => (isAdding.value = false)} />}
    </>
  );
};
