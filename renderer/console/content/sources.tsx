/** What slides draw on: templates, feeds, API sources and timetables. */
import { useSignal } from '@preact/signals';
import { contentSchema } from '../../../service/contract/content-schema.ts';
import {
  type ContentDocument,
  type Fields,
  issuesAt,
  type NamedDraft,
  type TimetableDraft,
} from '../model/document.ts';
import { freeId, removeAt, replaceAt, setField, setList } from '../model/edit.ts';
import { createForms, type Field } from '../model/schema.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Fold, IconButton } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { useWanted } from '../ui/wanted.ts';
import { FormField } from './field.tsx';

const columns = ['time', 'title', 'detail', 'location'] as const;

interface EntriesProps {
  entries: readonly Fields[];
  onChange(entries: Fields[]): void;
}

export const TimetableEntries = ({ entries, onChange }: EntriesProps) => {
  const { texts } = useConsole();
  const words = texts.sources;
  return (
    <div class="table-scroll">
      <table class="entries">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {texts.fields.label[column] ?? column}
              </th>
            ))}
            <th>
              <span class="unseen">{texts.editor.remove}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>
                  <input
                    {...(column === 'time' ? { type: 'time' } : {})}
                    aria-label={texts.fields.label[column] ?? column}
                    value={String(entry[column] ?? '')}
                    onInput={(event) =>
                      onChange(
                        replaceAt(
                          entries,
                          index,
                          column === 'time' || column === 'title'
                            ? { ...entry, [column]: event.currentTarget.value }
                            : setField(entry, column, event.currentTarget.value),
                        ),
                      )
                    }
                  />
                </td>
              ))}
              <td>
                <IconButton icon="close" label={words.removeEntry} onClick={() => onChange(removeAt(entries, index))} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Button class="small" onClick={() => onChange([...entries, { time: '09:00', title: words.newEntry }])}>
        <Icon name="plus" /> {words.addEntry}
      </Button>
    </div>
  );
};

const lists = ['templates', 'rssFeeds', 'apiSources', 'timetableGroups', 'calendars'] as const;
type ListName = (typeof lists)[number];

const forms = createForms(contentSchema);

const fresh: Record<ListName, Fields> = {
  templates: { html: '<h1>{{ headline }}</h1>' },
  rssFeeds: { url: 'https://' },
  apiSources: { url: 'https://' },
  timetableGroups: { entries: [] },
  calendars: { url: 'https://' },
};

type Record_ = NamedDraft | TimetableDraft;

/** A timetable of a calendar has no entries of its own. */
const withField = (record: Record_, name: string, value: unknown): Record_ => {
  const next = setField(record, name, value);
  if (name !== 'calendar_id') return next;
  return value === undefined ? { ...next, entries: [] } : setField(next, 'entries', undefined);
};

const List = ({ document, list }: { document: ContentDocument; list: ListName }) => {
  const { draft: openDraft, texts, announcer } = useConsole();
  const draft = openDraft();
  const words = texts.sources;
  const open = useSignal<string | null>(null);
  const records = (document[list] ?? []) as Record_[];
  const fields = forms.record(list).map((field): Field => (field.name === 'html' ? { ...field, type: 'long' } : field));

  const save = (next: Record_[], group?: string): void =>
    draft.edit(setList(document, list, next as NonNullable<ContentDocument[ListName]>), group);
  const add = (): void => {
    const id = freeId(
      words.id[list],
      records.map((record) => record.id),
    );
    save([...records, { id, ...fresh[list] }]);
    open.value = id;
  };

  const remove = (index: number): void => {
    const name = records[index]?.name || (records[index]?.id ?? '');
    save(removeAt(records, index));
    announcer.say(texts.editor.recordRemoved({ name }), { label: texts.editor.bringBack, act: draft.takeBack() });
  };

  return (
    <section class="panel">
      <div class="row panel-head">
        <h2>{words.title[list]}</h2>
        <Button class="small" onClick={add}>
          <Icon name="plus" /> {words.add[list]}
        </Button>
      </div>
      <p class="soft">{words.about[list]}</p>
      <details class="source-help">
        <summary>
          {words.howTo}
          <span class="unseen">: {words.title[list]}</span>
        </summary>
        <ul class="bullets">
          {Object.values<string>(words.help[list]).map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ul>
      </details>
      {records.map((record, index) => {
        const path = `${list}[${index}]`;
        const at = (name: string) => ({
          errors: issuesAt(draft.check.value?.errors ?? [], `${path}.${name}`),
          warnings: issuesAt(draft.check.value?.warnings ?? [], `${path}.${name}`),
        });
        const hasErrors = issuesAt(draft.check.value?.errors ?? [], path).length > 0;
        return (
          <Fold
            key={index}
            class="more-fields"
            data-record={`${list} ${record.id}`}
            isWanted={hasErrors || open.value === record.id}
          >
            <summary>{record.name || record.id}</summary>
            <div class="stack">
              {fields
                .filter(({ name }) => !['entries', 'schema'].includes(name))
                .map((field) => (
                  <FormField
                    key={field.name}
                    field={field}
                    value={(record as Fields)[field.name]}
                    issues={at(field.name)}
                    choices={document.calendars ?? []}
                    onChange={(value) =>
                      save(replaceAt(records, index, withField(record, field.name, value)), `${path} ${field.name}`)
                    }
                  />
                ))}
              {list === 'timetableGroups' && (record as Fields)['calendar_id'] === undefined && (
                <div data-field="entries">
                  <TimetableEntries
                    entries={(record as TimetableDraft).entries ?? []}
                    onChange={(entries) => save(replaceAt(records, index, { ...record, entries }), `${path} entries`)}
                  />
                </div>
              )}
              <div class="buttons">
                <Button class="small danger" onClick={() => remove(index)}>
                  {texts.editor.remove}
                </Button>
              </div>
            </div>
          </Fold>
        );
      })}
    </section>
  );
};

interface SourcesProps {
  document: ContentDocument;
  /** The list and the id of the record that the address names. */
  wanted: string | undefined;
  /** The field of it that has the focus. */
  field: string | undefined;
}

export const Sources = ({ document, wanted, field }: SourcesProps) => {
  useWanted(wanted, field);
  return (
    <div class="stack">
      {lists.map((list) => (
        <List key={list} document={document} list={list} />
      ))}
    </div>
  );
};
