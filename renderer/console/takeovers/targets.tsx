/** Choosing the screens that something is for: all, by tag, or one by one. */
import { useSignal } from '@preact/signals';
import { toggled } from '../model/edit.ts';
import { matches, tagsOf } from '../model/filter.ts';
import { useConsole } from '../ui/context.tsx';
import { Fault, SearchField } from '../ui/controls.tsx';
import { Check, Chip } from '../ui/inputs.tsx';
import { tagTarget } from './open.tsx';

export interface Where {
  /** All screens, or the selected ones. */
  isAll: boolean;
  tags: readonly string[];
  slugs: readonly string[];
}

export const everywhere: Where = { isAll: true, tags: [], slugs: [] };

export const targetsOf = ({ isAll, tags, slugs }: Where): string[] =>
  isAll ? ['all'] : [...tags.map(tagTarget), ...slugs];

interface TargetsProps {
  where: Where;
  fault: string | null;
  onChange(changed: Partial<Where>): void;
}

/** More screens than this get a field to search them by. */
const SEARCHED_FROM = 12;

/** Where a takeover is shown: everywhere, by tag, or screen by screen. */
export const Targets = ({ where: { isAll, tags, slugs }, fault, onChange }: TargetsProps) => {
  const { access, site, texts } = useConsole();
  const words = texts.takeover;
  const search = useSignal('');
  const screens = site.screens().filter(({ screen }) => access.covers([screen.slug], site.screens()));
  const shownTags = tagsOf(screens).filter((tag) => access.covers([tagTarget(tag)], []));
  const listed = screens.filter(({ screen }) => matches(search.value, screen.name) || slugs.includes(screen.slug));
  return (
    <fieldset class="field" data-field="targets" aria-describedby="targets-fault">
      <legend>{words.where}</legend>
      {access.covers(['all'], []) && (
        <div class="chips">
          <Chip name="where" checked={isAll} onChange={() => onChange({ isAll: true })}>
            {words.everywhere}
          </Chip>
          <Chip name="where" checked={!isAll} onChange={() => onChange({ isAll: false })}>
            {words.some}
          </Chip>
        </div>
      )}
      {!isAll && (
        <div class="target-list">
          {shownTags.length > 0 && (
            <div class="chips">
              {shownTags.map((tag) => (
                <Chip key={tag} checked={tags.includes(tag)} onChange={() => onChange({ tags: toggled(tags, tag) })}>
                  {words.withTag({ tag })}
                </Chip>
              ))}
            </div>
          )}
          {screens.length > SEARCHED_FROM && <SearchField label={texts.wall.search} text={search} />}
          <ul class="target-screens">
            {listed.map(({ screen }) => (
              <li key={screen.slug}>
                <Check
                  checked={slugs.includes(screen.slug)}
                  onChange={() => onChange({ slugs: toggled(slugs, screen.slug) })}
                >
                  {screen.name}
                </Check>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Fault id="targets-fault">{fault}</Fault>
    </fieldset>
  );
};
