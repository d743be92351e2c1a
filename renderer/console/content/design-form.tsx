/** The form of a design, or of a template with a schema. */
import type {
  FieldSchema,
  FlatField,
  ListField,
  FormField as SchemaField,
} from '../../../service/contract/field-schema.ts';
import { chosenValue, formField, recordsFor } from '../model/designs.ts';
import { type ContentDocument, type Fields, issuesAt } from '../model/document.ts';
import { insertAt, removeAt, replaceAt, setField } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, IconButton } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { wordOf } from '../ui/words.ts';
import { FormField, type Issues } from './field.tsx';

interface Props {
  schema: FieldSchema;
  document: ContentDocument;
  content: Fields;
  issues: Issues;
  /** Of the content in the document. */
  path: string;
  /** @param group the field that was typed into */
  onChange(content: Fields, group: string): void;
}

const MOST_ENTRIES = 100;

interface OneProps extends Pick<Props, 'document' | 'issues' | 'path'> {
  name: string;
  field: FlatField;
  value: unknown;
  onChange(value: unknown): void;
}

const One = ({ name, field, value, document, issues, path, onChange }: OneProps) => {
  const { texts } = useConsole();
  const shown = formField(name, field);
  // As a value, the default would come back as soon as the field is emptied.
  const isTyped = ['text', 'long', 'number'].includes(shown.type);
  return (
    <FormField
      field={shown}
      label={wordOf(texts.designs.word, field.title ?? name)}
      value={isTyped ? value : (value ?? field.default)}
      placeholder={isTyped ? String(field.default ?? '') : ''}
      issues={{ errors: issuesAt(issues.errors, path), warnings: issuesAt(issues.warnings, path) }}
      accepts={field.type === 'string' && field.format === 'media' ? ['image/'] : []}
      choices={recordsFor(name, document) ?? []}
      hasHint={false}
      onChange={(next) => onChange(chosenValue(field, next))}
    />
  );
};

interface ListProps extends Pick<Props, 'document' | 'issues' | 'path'> {
  field: ListField;
  title: string;
  entries: readonly Fields[];
  onChange(entries: Fields[], group: string): void;
}

const List = ({ field, title, entries, document, issues, path, onChange }: ListProps) => {
  const { texts } = useConsole();
  const words = texts.designs;
  const most = Math.min(field.maxItems ?? MOST_ENTRIES, MOST_ENTRIES);
  const names = Object.keys(field.items.properties);
  return (
    <fieldset class="field design-list">
      <legend>{title}</legend>
      {entries.map((entry, index) => (
        <div key={index} class="design-entry">
          <div class="design-fields">
            {names.map((name) => (
              <One
                key={name}
                name={name}
                field={field.items.properties[name] as FlatField}
                value={entry[name]}
                document={document}
                issues={issues}
                path={`${path}[${index}].${name}`}
                onChange={(value) =>
                  onChange(replaceAt(entries, index, setField(entry, name, value)), `${index} ${name}`)
                }
              />
            ))}
          </div>
          <div class="design-tools">
            {index > 0 && (
              <IconButton
                icon="back"
                label={texts.editor.moveBack}
                onClick={() => onChange(insertAt(removeAt(entries, index), index - 1, entry), `move ${index}`)}
              />
            )}
            <IconButton
              icon="close"
              label={words.removeEntry}
              onClick={() => onChange(removeAt(entries, index), `remove ${index}`)}
            />
          </div>
        </div>
      ))}
      {entries.length < most && (
        <Button class="small" onClick={() => onChange([...entries, {}], 'add')}>
          <Icon name="plus" /> {words.addEntry}
        </Button>
      )}
    </fieldset>
  );
};

export const DesignForm = ({ schema, document, content, issues, path, onChange }: Props) => {
  const { texts } = useConsole();
  const row = (name: string, field: SchemaField) => {
    const change = (value: unknown, group: string): void => onChange(setField(content, name, value), group);
    const shared = { document, issues, path: `${path}.${name}` };
    if (field.type !== 'array') {
      return (
        <One
          key={name}
          {...shared}
          name={name}
          field={field}
          value={content[name]}
          onChange={(value) => change(value, name)}
        />
      );
    }
    const list = content[name];
    return (
      <List
        key={name}
        {...shared}
        field={field}
        title={wordOf(texts.designs.word, field.title ?? name)}
        entries={Array.isArray(list) ? (list as Fields[]) : []}
        onChange={(entries, group) => change(entries, `${name} ${group}`)}
      />
    );
  };
  return <>{Object.entries(schema.properties).map(([name, field]) => row(name, field))}</>;
};
