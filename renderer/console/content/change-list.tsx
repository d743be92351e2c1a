/** What differs between two versions, in words. */
import { type Change, changesBetween, type SlideChange } from '../model/changes.ts';
import type { ContentDocument } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { wordOf } from '../ui/words.ts';

/** Changes of one list that are named; the rest are counted. */
const SHOWN = 100;

export const ChangeList = ({ before, after }: { before: ContentDocument; after: ContentDocument }) => {
  const { texts, format } = useConsole();
  const words = texts.changes;
  const changes = changesBetween(before, after);
  if (changes.length === 0) return <p class="soft">{words.none}</p>;
  const named = (fields: readonly string[]): string =>
    format.list(fields.map((name) => wordOf(texts.fields.label, name)));
  const slideText = ({ type, title, fields }: SlideChange): string =>
    type === 'changed' ? words.slideChanged({ title, fields: named(fields) }) : words.slide[type]({ title });
  const text = ({ type, list, name, fields }: Change): string => {
    const subject = list === 'style' ? words.style : words.subject[list]({ name });
    if (type !== 'changed') return words[type]({ subject });
    return fields.length === 0 ? subject : words.changed({ subject, fields: named(fields) });
  };
  return (
    <ul class="changes">
      {changes.slice(0, SHOWN).map((change) => (
        <li key={`${change.list} ${change.name} ${change.type}`} class={change.type}>
          {text(change)}
          {change.slides.length > 0 && (
            <ul>
              {change.slides.slice(0, SHOWN).map((slide) => (
                <li key={`${slide.type} ${slide.id}`} class={slide.type}>
                  {slideText(slide)}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
};
