/** The screens: their names, what they play, their tags and opening hours. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { issuesAt, shortMessage } from '../model/checks.ts';
import type { ContentDocument, ScreenDraft } from '../model/document.ts';
import { freeId, removeAt, replaceAt, setField, setList } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Hours } from './hours.tsx';

const Row = ({ document, screen, index }: { document: ContentDocument; screen: ScreenDraft; index: number }) => {
  const { draft: openDraft, texts } = useConsole();
  const draft = openDraft();
  const words = texts.screens;
  const id = useId();
  const isRemoving = useSignal(false);
  /** Typed tags, until the field is left: a comma at its end must not vanish. */
  const typed = useSignal<string | null>(null);
  const path = `screens[${index}]`;
  const errors = issuesAt(draft.check.value?.errors ?? [], path);
  const warnings = issuesAt(draft.check.value?.warnings ?? [], path);

  const edit = (next: ScreenDraft, group: string): void =>
    draft.edit(setList(document, 'screens', replaceAt(document.screens, index, next)), `${path} ${group}`);

  return (
    <li class="panel screen-row">
      <div class="screen-fields">
        <div class="field">
          <label for={`${id}name`}>{words.name}</label>
          <input
            id={`${id}name`}
            value={screen.name}
            onInput={(event) => edit({ ...screen, name: event.currentTarget.value }, 'name')}
          />
          <p class="hint">/screen/{screen.slug}</p>
        </div>
        <div class="field">
          <label for={`${id}playlist`}>{words.playlist}</label>
          <select
            id={`${id}playlist`}
            value={screen.playlist_id ?? ''}
            onChange={(event) => edit({ ...screen, playlist_id: event.currentTarget.value || null }, 'playlist')}
          >
            <option value="">{words.noPlaylist}</option>
            {(document.playlists ?? []).map((playlist) => (
              <option key={playlist.id} value={playlist.id}>
                {playlist.name || playlist.id}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for={`${id}tags`}>{words.tags}</label>
          <input
            id={`${id}tags`}
            value={typed.value ?? (screen.tags ?? []).join(', ')}
            autocapitalize="none"
            autocomplete="off"
            aria-describedby={`${id}tags-hint`}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
              const tags = event.currentTarget.value
                .split(',')
                .map((tag) => tag.trim())
                .filter((tag) => tag !== '');
              edit(setField(screen, 'tags', tags.length === 0 ? undefined : [...new Set(tags)]), 'tags');
            }}
            onBlur={() => (typed.value = null)}
          />
          <p class="hint tags-hint" id={`${id}tags-hint`}>
            {words.tagsHint}
          </p>
        </div>
        <button
          type="button"
          class="icon-button"
          aria-label={words.removeOf({ name: screen.name })}
          onClick={() => (isRemoving.value = true)}
        >
          <Icon name="forget" />
        </button>
      </div>
      <Hours screen={screen} onChange={(hours) => edit(setField(screen, 'hours', hours), 'hours')} />
      {errors.map((issue) => (
        <p key={issue.message} class="fault">
          {shortMessage(issue)}
        </p>
      ))}
      {warnings.map((issue) => (
        <p key={issue.message} class="caution">
          {shortMessage(issue)}
        </p>
      ))}
      {isRemoving.value && (
        <Dialog title={words.removeTitle({ name: screen.name })} onClose={() => (isRemoving.value = false)}>
          <div class="stack">
            <p>{words.removeTask}</p>
            <div class="buttons end">
              <button type="button" class="button" onClick={() => (isRemoving.value = false)}>
                {texts.cancel}
              </button>
              <button
                type="button"
                class="button danger primary"
                onClick={() => {
                  isRemoving.value = false;
                  draft.edit(setList(document, 'screens', removeAt(document.screens, index)));
                }}
              >
                {texts.editor.remove}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </li>
  );
};

export const Screens = ({ document }: { document: ContentDocument }) => {
  const { draft: openDraft, texts } = useConsole();
  const draft = openDraft();
  const words = texts.screens;
  const id = useId();
  const add = (name: string): void => {
    const slug = freeId(
      name,
      document.screens.map((screen) => screen.slug),
    );
    const playlistId = document.playlists?.[0]?.id ?? null;
    draft.edit(setList(document, 'screens', [...document.screens, { name, slug, playlist_id: playlistId }]));
  };
  return (
    <>
      <form
        class="add-screen"
        onSubmit={(event) => {
          event.preventDefault();
          const name = String(new FormData(event.currentTarget).get('name')).trim();
          if (name === '') return;
          add(name);
          event.currentTarget.reset();
        }}
      >
        <label class="unseen" for={id}>
          {words.newName}
        </label>
        <input id={id} name="name" placeholder={words.newName} autocomplete="off" />
        <button type="submit" class="button">
          <Icon name="plus" /> {words.add}
        </button>
      </form>
      <ul class="screen-rows">
        {document.screens.map((screen, index) => (
          <Row key={screen.slug} document={document} screen={screen} index={index} />
        ))}
      </ul>
    </>
  );
};
