/** The entries of a timetable, one a row. */
import type { Fields } from '../model/document.ts';
import { removeAt, replaceAt, setField } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon } from '../ui/icon.tsx';

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
                <button
                  type="button"
                  class="icon-button"
                  aria-label={words.removeEntry}
                  onClick={() => onChange(removeAt(entries, index))}
                >
                  <Icon name="close" />
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <button
        type="button"
        class="button small"
        onClick={() => onChange([...entries, { time: '09:00', title: words.newEntry }])}
      >
        <Icon name="plus" /> {words.addEntry}
      </button>
    </div>
  );
};
