/** For which screens something is: all of them, those with a tag, or one. */
import type { ContentDocument } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Field } from '../ui/controls.tsx';

/** What can be a target: the tags in use, and the screens. */
export const TargetOptions = ({ document }: { document: ContentDocument }) => {
  const { texts } = useConsole();
  const words = texts.programmes;
  const tags = [...new Set(document.screens.flatMap((screen) => screen.tags ?? []))].sort();
  return (
    <>
      <option value="all">{words.all}</option>
      {tags.map((tag) => (
        <option key={tag} value={`tag:${tag}`}>
          {words.tag({ tag })}
        </option>
      ))}
      {document.screens.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name || slug}
        </option>
      ))}
    </>
  );
};

interface TargetsProps {
  document: ContentDocument;
  targets: readonly string[];
  onChange(targets: readonly string[]): void;
}

export const Targets = ({ document, targets, onChange }: TargetsProps) => {
  const { texts, format } = useConsole();
  const nameOf = (target: string): string => {
    if (target === 'all') return texts.programmes.all;
    if (target.startsWith('tag:')) return texts.programmes.tag({ tag: target.slice(4) });
    return document.screens.find(({ slug }) => slug === target)?.name || target;
  };
  const own = targets.join('\n');
  const isListed =
    targets.length === 1 &&
    (own === 'all' ||
      document.screens.some(({ slug, tags }) => slug === own || tags?.some((tag) => `tag:${tag}` === own)));
  return (
    <Field label={texts.programmes.target}>
      {(control) => (
        <select
          {...control}
          value={own}
          onChange={({ currentTarget: { value } }) => value !== own && onChange([value])}
        >
          {!isListed && <option value={own}>{format.list(targets.map(nameOf))}</option>}
          <TargetOptions document={document} />
        </select>
      )}
    </Field>
  );
};
