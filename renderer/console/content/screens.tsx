/** The screens: their names, what they play, their tags and opening hours. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { type ContentDocument, issuesAt, type ScreenDraft } from '../model/document.ts';
import { freeId, removeAt, replaceAt, setField, setList, withoutScreen } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, IconButton } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Check, IssueNotes, SelectField, TextField, usePlaylistOptions, Weekdays, weekdays } from '../ui/inputs.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { useWanted } from '../ui/wanted.ts';
import { wordOf } from '../ui/words.ts';
import { AddressDialog } from './address-dialog.tsx';
import type { LayoutEditorProps } from './layout-editor.tsx';

type Hours = NonNullable<ScreenDraft['hours']>;
type Entry = Hours[number];

/** Screens that are added in one step. */
const MOST_AT_ONCE = 100;

interface HoursProps {
  screen: ScreenDraft;
  /** Undefined: always open. */
  onChange(hours: Hours | undefined): void;
}

/** The opening hours of a screen: times of weekdays, and dates that differ. */
export const Hours = ({ screen, onChange }: HoursProps) => {
  const { texts, clock, timeZone } = useConsole();
  /** The date of the site, as the file has it. */
  const today = (): string => new Intl.DateTimeFormat('sv', { timeZone }).format(clock.now());
  const words = texts.hours;
  const id = useId();
  const hours = screen.hours ?? [];
  const set = (index: number, entry: Entry): void => onChange(replaceAt(hours, index, entry));
  const time = (entry: Entry, index: number, name: 'open' | 'close', label: string) => (
    <label class="field">
      <span class="label">{label}</span>
      <input
        type="time"
        value={entry[name] ?? ''}
        onInput={(event) => set(index, { ...entry, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <details class="more-fields">
      <summary>{hours.length === 0 ? words.always : words.title({ count: hours.length })}</summary>
      <div class="stack">
        {hours.map((entry, index) => (
          <div key={`${id}${index}`} class="hours-row">
            {entry.date === undefined ? (
              <Weekdays
                chosen={entry.days ?? weekdays}
                // A list without days is no opening time.
                onChange={(days) => days.length > 0 && set(index, { ...entry, days })}
              />
            ) : (
              <label class="field">
                <span class="label">{words.date}</span>
                <input
                  type="date"
                  value={entry.date}
                  onInput={(event) => set(index, { ...entry, date: event.currentTarget.value })}
                />
              </label>
            )}
            {entry.date !== undefined && (
              <Check
                checked={entry.open === undefined}
                onChange={(isClosed) =>
                  set(
                    index,
                    isClosed ? { date: entry.date ?? '' } : { date: entry.date ?? '', open: '08:00', close: '18:00' },
                  )
                }
              >
                {words.closed}
              </Check>
            )}
            {entry.open !== undefined && (
              <>
                {time(entry, index, 'open', words.opens)}
                {time(entry, index, 'close', words.closes)}
              </>
            )}
            <IconButton
              icon="close"
              label={words.remove}
              onClick={() => {
                const next = removeAt(hours, index);
                onChange(next.length === 0 ? undefined : next);
              }}
            />
          </div>
        ))}
        <div class="buttons">
          <Button
            class="small"
            onClick={() => onChange([...hours, { days: [1, 2, 3, 4, 5], open: '08:00', close: '18:00' }])}
          >
            <Icon name="plus" /> {words.add}
          </Button>
          <Button class="small" onClick={() => onChange([...hours, { date: today() }])}>
            <Icon name="plus" /> {words.addDate}
          </Button>
        </div>
      </div>
    </details>
  );
};

const editor = async () => (await import('./layout-editor.tsx')).LayoutEditor;

/** The layout of a screen; its editor, with a preview by the player, is loaded once it is opened. */
const Layout = (props: LayoutEditorProps) => {
  const { texts } = useConsole();
  const isOpen = useSignal(false);
  const words = texts.layout;
  return (
    <details class="more-fields" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{words.summary({ layout: wordOf(words.layout, props.screen.layout ?? 'full') })}</summary>
      {isOpen.value && <Lazy load={editor} with={{ ...props }} />}
    </details>
  );
};

const Row = ({ document, screen, index }: { document: ContentDocument; screen: ScreenDraft; index: number }) => {
  const { draft: openDraft, texts, announcer } = useConsole();
  const draft = openDraft();
  const words = texts.screens;
  const id = useId();
  const playlists = usePlaylistOptions(document.playlists ?? []);
  const isRemoving = useSignal(false);
  const isMoving = useSignal(false);
  /** Typed tags, until the field is left: a comma at its end must not vanish. */
  const typed = useSignal<string | null>(null);
  const path = `screens[${index}]`;
  const errors = issuesAt(draft.check.value?.errors ?? [], path);
  const warnings = issuesAt(draft.check.value?.warnings ?? [], path);

  const edit = (next: ScreenDraft, group: string): void =>
    draft.edit(setList(document, 'screens', replaceAt(document.screens, index, next)), `${path} ${group}`);

  return (
    <li class="panel screen-row" data-record={screen.slug}>
      <div class="screen-fields">
        <TextField
          field="name"
          label={words.name}
          hint={`/screen/${screen.slug}`}
          value={screen.name}
          onInput={(event) => edit({ ...screen, name: event.currentTarget.value }, 'name')}
        />
        <SelectField
          field="playlist_id"
          label={words.playlist}
          value={screen.playlist_id ?? ''}
          options={playlists}
          onValue={(value) => edit({ ...screen, playlist_id: value || null }, 'playlist')}
        />
        <div class="field" data-field="tags">
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
        <span class="screen-actions" data-field="slug">
          <IconButton
            icon="rename"
            label={words.address.of({ name: screen.name })}
            onClick={() => (isMoving.value = true)}
          />
          <IconButton
            icon="forget"
            label={words.removeOf({ name: screen.name })}
            onClick={() => (isRemoving.value = true)}
          />
        </span>
      </div>
      <div data-field="layout zones">
        <Layout document={document} screen={screen} onChange={edit} />
      </div>
      <div data-field="hours">
        <Hours screen={screen} onChange={(hours) => edit(setField(screen, 'hours', hours), 'hours')} />
      </div>
      <IssueNotes errors={errors} warnings={warnings} />
      {isMoving.value && <AddressDialog document={document} screen={screen} onClose={() => (isMoving.value = false)} />}
      {isRemoving.value && (
        <Confirm
          title={words.removeTitle({ name: screen.name })}
          submit={texts.editor.remove}
          isDanger
          onClose={() => (isRemoving.value = false)}
          onSubmit={() => {
            isRemoving.value = false;
            draft.edit(withoutScreen(document, screen.slug));
            announcer.say(texts.editor.recordRemoved({ name: screen.name || screen.slug }), {
              label: texts.editor.bringBack,
              act: draft.takeBack(),
            });
          }}
        >
          <p>{words.removeTask}</p>
        </Confirm>
      )}
    </li>
  );
};

interface ScreensProps {
  document: ContentDocument;
  /** The slug of the screen that the address names. */
  wanted: string | undefined;
  /** The field of it that has the focus. */
  field: string | undefined;
}

export const Screens = ({ document, wanted, field }: ScreensProps) => {
  const { draft: openDraft, texts } = useConsole();
  const draft = openDraft();
  const words = texts.screens;
  const id = useId();
  useWanted(wanted, field);
  /** Several are numbered from 1. */
  const add = (base: string, count: number): void => {
    const playlist_id = document.playlists?.[0]?.id ?? null;
    const screens = [...document.screens];
    for (let number = 1; number <= count; number += 1) {
      const name = count === 1 ? base : `${base} ${number}`;
      const taken = screens.map(({ slug }) => slug);
      screens.push({ name, slug: freeId(name, taken), playlist_id });
    }
    draft.edit(setList(document, 'screens', screens));
  };
  return (
    <>
      <form
        class="add-screen"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const name = String(form.get('name')).trim();
          if (name === '') return;
          add(name, Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(Number(form.get('count'))) || 1)));
          event.currentTarget.reset();
        }}
      >
        <label class="unseen" for={id}>
          {words.newName}
        </label>
        <input id={id} name="name" placeholder={words.newName} autocomplete="off" />
        <input
          class="screen-count"
          name="count"
          type="number"
          min={1}
          max={MOST_AT_ONCE}
          defaultValue="1"
          aria-label={words.count}
          title={words.count}
        />
        <Button type="submit">
          <Icon name="plus" /> {words.add}
        </Button>
      </form>
      <ul class="screen-rows">
        {document.screens.map((screen, index) => (
          <Row key={screen.slug} document={document} screen={screen} index={index} />
        ))}
      </ul>
    </>
  );
};
