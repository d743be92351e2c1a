/** The values that a template is rendered with: one field for each name that it asks for. */
import type { Fields, NamedDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { FormField } from './field.tsx';

/** The player's own names; they are no values of a slide. */
const reserved = ['content', 'slide', 'screen', 'sources', 'feeds', 'timetables', 'now', 'forloop', 'blank', 'empty'];

/** The names that a template asks for, in the order in which they come. */
export const namesIn = (html: string): string[] => {
  const own = [...html.matchAll(/\b(?:assign|capture|for)\s+([a-z_]\w*)/gi)].map(([, name]) => name);
  const found = [...html.matchAll(/\{\{-?\s*(?:content\.)?([a-z_]\w*)/gi)].map(([, name = '']) => name);
  return [...new Set(found)].filter((name) => !reserved.includes(name) && !own.includes(name));
};

interface TemplateFieldsProps {
  template: NamedDraft | undefined;
  content: Fields;
  onChange(content: Fields): void;
}

const none = { errors: [], warnings: [] };

export const TemplateFields = ({ template, content, onChange }: TemplateFieldsProps) => {
  const texts = Object.keys(content).filter((name) => typeof content[name] === 'string');
  const names = [...new Set([...namesIn(template?.html ?? ''), ...texts])].filter(
    // What is no text is edited as JSON.
    (name) => content[name] === undefined || typeof content[name] === 'string',
  );
  return (
    <>
      {names.map((name) => (
        <FormField
          key={name}
          field={{ name, type: /text|body/.test(name) ? 'long' : 'text', isRequired: false, options: [] }}
          value={content[name]}
          issues={none}
          onChange={(value) => onChange(setField(content, name, value))}
        />
      ))}
    </>
  );
};
