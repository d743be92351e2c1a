/** Content: the editor, the box's messages about the draft, and publishing. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { reasonOf } from '../api/errors.ts';
import { changesBetween } from '../model/changes.ts';
import type { ContentDocument } from '../model/document.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Failure, Fault, IconButton, Tabs } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { Drafts } from './drafts.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import { Playlist } from './playlist.tsx';
import { Playlists } from './playlists.tsx';
import { PublishDialog } from './publish-dialog.tsx';
import { Screens } from './screens.tsx';
import { Sources } from './sources.tsx';
import { Versions } from './versions.tsx';

const tabs = ['playlists', 'week', 'screens', 'sources', 'style', 'versions', 'json'] as const;
type Tab = (typeof tabs)[number];

const weekPage = async () => (await import('../programmes/page.tsx')).WeekPage;
const styleTab = async () => (await import('./style.tsx')).StyleTab;
const jsonTab = async () => (await import('./json-tab.tsx')).JsonTab;

const Body = ({
  tab,
  rest: [first, second, third],
  document,
}: {
  tab: Tab;
  rest: readonly string[];
  document: ContentDocument;
}) => {
  const { texts } = useConsole();
  switch (tab) {
    case 'playlists': {
      const playlist = document.playlists?.find(({ id }) => id === first);
      return playlist === undefined ? (
        <>
          {first !== undefined && <p class="notice warning">{texts.editor.noSuchPlaylist}</p>}
          <Drafts />
          <Playlists document={document} />
        </>
      ) : (
        <Playlist key={playlist.id} document={document} playlist={playlist} slideId={second} field={third} />
      );
    }
    case 'week':
      return <Lazy load={weekPage} with={{ document, target: first, wanted: second, field: third }} />;
    case 'screens':
      return <Screens document={document} wanted={first} field={second} />;
    case 'sources':
      return <Sources document={document} wanted={first && second && `${first} ${second}`} field={third} />;
    case 'style':
      return <Lazy load={styleTab} with={{ document, field: first }} />;
    case 'versions':
      return <Versions />;
    case 'json':
      return <Lazy load={jsonTab} with={{}} />;
  }
};

/** Inputs in which the browser itself undoes what is typed. */
const typed = ['text', 'search', 'url', 'tel', 'email', 'password', 'number'];
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement
    ? typed.includes(target.type)
    : target instanceof Element && target.closest('textarea, .cm-content') !== null;

/** Records that are named where a step is told; the rest are counted. */
const MOST_NAMES = 3;

/** The state of the draft, and the actions on it. */
const DraftBar = ({ onPublish, onMerge }: { onPublish(): void; onMerge(): void }) => {
  const { access, session, draft: openDraft, savedDrafts, texts, format, announcer, router } = useConsole();
  const draft = openDraft();
  const { state, error, editing, list, id, setState, putAside } = savedDrafts();
  const words = texts.draft;
  const own = list.value.find((each) => each.id === id.value);
  const isSubmitted = own?.state === 'submitted';
  const note = own?.note ?? null;
  const errors = draft.check.value?.errors.length ?? 0;
  const warnings = draft.check.value?.warnings.length ?? 0;
  const isDirty = draft.isDirty.value;
  // As the box names who signs.
  const self = access.me.value.person?.name ?? session.operator.value;
  const others = editing.value.filter((name) => name !== self);
  const mayPublish = access.may('PUT /console/api/content');
  /** Undoes or redoes, and says what that has changed: it may be on another page. */
  const step = (go: () => void, sentence: (values: { what: string }) => string): void => {
    const before = draft.content.peek();
    go();
    const after = draft.content.peek();
    if (before === null || after === null || before === after) return;
    const changes = changesBetween(before, after);
    const [, , shown] = router.path.peek();
    const playlist = after.playlists?.find((each) => each.id === shown);
    const isSeen = changes.every((each) => each.list === 'playlists' && each.name === (playlist?.name || playlist?.id));
    const names = changes.map((each) =>
      each.list === 'style' ? texts.changes.style : texts.changes.subject[each.list]({ name: each.name }),
    );
    const text = sentence({ what: format.few(names, MOST_NAMES, texts.wall.more) });
    if (isSeen) announcer.speak(text);
    else announcer.say(text);
  };
  const undo = (): void => step(draft.undo, words.undone);
  const redo = (): void => step(draft.redo, words.redone);
  useEffect(() => {
    const hold = (event: BeforeUnloadEvent): void => {
      if (draft.isDirty.value && state.value !== 'saved') event.preventDefault();
    };
    const onKey = (event: KeyboardEvent): void => {
      const key = event.key.toLowerCase();
      const isMeant = (event.ctrlKey || event.metaKey) && !event.altKey && (key === 'z' || key === 'y');
      if (!isMeant || isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      if (key === 'y' || event.shiftKey) redo();
      else undo();
    };
    addEventListener('beforeunload', hold);
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('beforeunload', hold);
      removeEventListener('keydown', onKey);
    };
  }, []);
  return (
    <div class="row draft-bar">
      <p class={errors > 0 ? 'state bad' : warnings > 0 ? 'state warning' : 'state quiet'} role="status">
        {isDirty ? words.unpublished : words.published}
        {isDirty && state.value === 'saved' && ` ${isSubmitted ? words.submitted : words.saved}`}
        {isDirty && others.length > 0 && ` ${words.others({ count: others.length, names: format.list(others) })}`}
        {errors > 0 ? ` ${words.errors({ count: errors })}` : ''}
        {warnings > 0 ? ` ${words.warnings({ count: warnings })}` : ''}
      </p>
      {isDirty && state.value === 'failed' && <Fault>{words.notSaved({ reason: reasonOf(error.value, texts) })}</Fault>}
      {isDirty && note !== null && !isSubmitted && <p class="caution">{words.sentBack({ note })}</p>}
      <div class="buttons">
        <IconButton icon="undo" label={words.undo} disabled={!draft.canUndo.value} onClick={undo} />
        <IconButton icon="redo" label={words.redo} disabled={!draft.canRedo.value} onClick={redo} />
        {isDirty && (
          <button
            type="button"
            class="icon-button"
            disabled={draft.isPublishing.value}
            aria-label={words.putAside}
            title={words.putAside}
            onClick={() =>
              void putAside().then(
                () => announcer.say(words.isAside),
                (reason: unknown) => announcer.complain(reasonOf(reason, texts)),
              )
            }
          >
            <Icon name="close" />
          </button>
        )}
        {isDirty && (
          <button
            type="button"
            disabled={state.value === 'failed'}
            class={mayPublish || isSubmitted ? 'button' : 'button primary'}
            onClick={() => void setState(isSubmitted ? 'open' : 'submitted').catch(() => undefined)}
          >
            {isSubmitted ? words.reopen : words.submit}
          </button>
        )}
        {draft.newer.value !== null && isDirty ? (
          <Button class="primary" onClick={onMerge}>
            <Icon name="warning" /> {words.merge}
          </Button>
        ) : (
          mayPublish && (
            <Button class="primary" disabled={!isDirty || draft.isPublishing.value} onClick={onPublish}>
              {words.publish}
            </Button>
          )
        )}
      </div>
    </div>
  );
};

export const ContentPage = ({ rest }: { rest: readonly string[] }) => {
  const { access, draft: openDraft, savedDrafts, documents, texts, session } = useConsole();
  const draft = openDraft();
  const words = texts.contentPage;
  // What came to a viewer is not whole, and is loaded again once they may edit.
  const isEditor = access.may('PUT /console/api/drafts/:id');
  const mayEdit = isEditor && draft.base.value?.isWhole === true;
  const mayPublish = access.may('PUT /console/api/content');
  const open = useSignal<'publish' | 'merge' | null>(null);
  const [first, ...more] = rest;
  const tab = tabs.find((each) => each === first) ?? 'playlists';
  const document = draft.content.value;
  const isReplaced = draft.isReplaced.value;
  useEffect(() => savedDrafts().follow(), []);
  useEffect(() => {
    if (!isReplaced) return;
    draft.isReplaced.value = false;
    open.value = 'merge';
  }, [isReplaced]);
  return (
    <div class={tab === 'playlists' && more.length > 0 ? 'content-page within' : 'content-page'}>
      <div class="page-head">
        <h1>{words.title}</h1>
        {document !== null && mayEdit && (
          <DraftBar onPublish={() => (open.value = 'publish')} onMerge={() => (open.value = 'merge')} />
        )}
      </div>
      <Tabs
        label={words.title}
        tabs={tabs}
        current={tab}
        hrefOf={(each) => hrefOf('content', each)}
        nameOf={(each) => words.tab[each]}
      />
      {document !== null ? (
        mayEdit ? (
          <Body tab={tab} rest={more} document={document} />
        ) : (
          // A viewer looks at all of it; what would change it does nothing.
          <>
            <p class="notice">{access.isKnown.value && !isEditor ? texts.people.looking : texts.loading}</p>
            <fieldset class="looking" disabled inert={tab === 'week' || tab === 'json'}>
              <Body tab={tab} rest={more} document={document} />
            </fieldset>
          </>
        )
      ) : documents.error.value !== null && !session.isAsking.value ? (
        <Failure reason={documents.error.value} onRetry={() => void documents.load()} />
      ) : (
        <p class="soft">{texts.loading}</p>
      )}
      {open.value === 'publish' && (
        <PublishDialog onClose={() => (open.value = null)} onConflict={() => (open.value = 'merge')} />
      )}
      {open.value === 'merge' && (
        <MergeDialog
          mayPublish={mayPublish}
          onClose={() => (open.value = null)}
          onMerged={() => (open.value = mayPublish ? 'publish' : null)}
        />
      )}
    </div>
  );
};
