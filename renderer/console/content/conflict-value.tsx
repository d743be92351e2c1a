/** A value of the document as people read it: its fields by their labels, and what it refers to by name. */
import type { ContentDocument, Fields, NamedDraft } from '../model/document.ts';
import { titleOf } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { wordOf } from '../ui/words.ts';

interface ValueProps {
  /** Of the field; null: of a record. */
  field: string | null;
  value: unknown;
  document: ContentDocument;
}

const MOST_CHARACTERS = 600;
/** Entries of a list that are told; the rest are counted. */
const MOST_ENTRIES = 12;
const unsaid = new Set(['id', 'slug', 'kind']);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const cut = (text: string): string => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} …` : text);

/** The records that fields name by id. */
const referred = ({ playlists, templates, rssFeeds, timetableGroups, calendars }: ContentDocument) =>
  ({
    playlist_id: playlists,
    template_id: templates,
    feed_id: rssFeeds,
    group_id: timetableGroups,
    calendar_id: calendars,
    calendar_ids: calendars,
  }) as Readonly<Record<string, readonly NamedDraft[] | undefined>>;

export const ConflictValue = ({ field, value, document }: ValueProps) => {
  const { texts, format } = useConsole();
  const words = texts.merge;

  /** All that is in a record: entries of a list may differ in any field. */
  const wordsOf = (record: Fields): string => {
    const title = String(record['name'] || titleOf(record, String(record['id'] ?? words.entry)));
    const rest = Object.entries(record).flatMap(([name, each]) => {
      if (unsaid.has(name) || each == null || each === '' || each === title) return [];
      const said = typeof each === 'object' ? JSON.stringify(each) : wordOf(texts.fields.options, String(each));
      return `${wordOf(texts.fields.label, name)}: ${said}`;
    });
    return cut(rest.length === 0 ? title : `${title} (${rest.join(', ')})`);
  };

  const word = (single: unknown): string => {
    if (typeof single === 'boolean') return single ? words.yes : words.no;
    if (typeof single === 'number') return field === 'days' ? format.weekday(single) : String(single);
    if (isFields(single)) return wordsOf(single);
    const text = String(single);
    if (field === 'media_url') return text.replace(/^\/media\//, '');
    const name = referred(document)[field ?? '']?.find(({ id }) => id === text)?.name;
    return cut(name || wordOf(texts.fields.options, text));
  };

  if (value === undefined) return <p class="soft">{words.removed}</p>;
  if (value === null || value === '') return <p class="soft">{words.empty}</p>;
  if (Array.isArray(value) && value.some(isFields)) {
    const left = value.length - MOST_ENTRIES;
    return (
      <ol class="conflict-entries">
        {value.slice(0, MOST_ENTRIES).map((each, at) => (
          <li key={at} dir="auto">
            {word(each)}
          </li>
        ))}
        {left > 0 && <li>{texts.wall.more({ count: left })}</li>}
      </ol>
    );
  }
  if (Array.isArray(value)) return <p>{format.few(value.map(word), MOST_ENTRIES, texts.wall.more)}</p>;
  if (!isFields(value)) return <p dir="auto">{word(value)}</p>;
  return (
    <dl class="conflict-fields">
      {Object.entries(value)
        .filter(([name]) => !unsaid.has(name))
        .map(([name, each]) => (
          <div key={name}>
            <dt>{wordOf(texts.fields.label, name)}</dt>
            <dd>
              <ConflictValue field={name} value={each} document={document} />
            </dd>
          </div>
        ))}
    </dl>
  );
};
