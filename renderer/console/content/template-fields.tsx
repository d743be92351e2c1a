/** The values that a template is rendered with: one field per variable. */
import type { Fields, NamedDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { FormField } from './field.tsx';

/** The player's own names; they are no values of a slide. */
const reserved = ['content', 'slide', 'screen', 'sources', 'feeds', 'timetables', 'now', 'forloop', 'blank', 'empty'];

/** The variables of a template, in order of appearance. */
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
    // Other values than text are edited as JSON.
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
