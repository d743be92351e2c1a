/** Resolves a concurrent edit: both versions, and each side's values where they differ. */
import { useSignal } from '@preact/signals';
import { type Conflict, conflictKey, isEqual, merge } from '../../../service/domain/merge-documents.ts';
import { redactedPart } from '../../../service/domain/redacted.ts';
import { nameOf } from '../model/changes.ts';
import { type ContentDocument, type Fields, titleOf } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Dialog } from '../ui/controls.tsx';
import { Miniature } from '../ui/miniature.tsx';
import { wordOf } from '../ui/words.ts';
import { ChangeList } from './change-list.tsx';
import { ConflictValue } from './conflict-value.tsx';

interface Words {
  /** Names a record of a list at the root. */
  subject: Readonly<Record<string, (values: { name: string }) => string>>;
  /** Names a list at the root. */
  list: Readonly<Record<string, string>>;
  label: Readonly<Record<string, string>>;
}

const keyOf = (record: Fields): unknown => record['slug'] ?? record['id'];

const find = (list: unknown, key: string | number | undefined): Fields | undefined =>
  Array.isArray(list) ? (list as Fields[]).find((each) => keyOf(each) === key) : undefined;

/** Names what two people changed, for people. @param documents the first that has the record names it */
const conflictName = (
  { path: [list = '', key, ...rest], of }: Pick<Conflict, 'path' | 'of'>,
  documents: readonly ContentDocument[],
  { subject, list: lists, label }: Words,
): string => {
  const record = documents.map((document) => find(document[list], key)).find((each) => each !== undefined);
  const name = record === undefined ? String(key) : nameOf(record);
  const parts = [key === undefined ? wordOf(lists, String(list)) : (subject[list]?.({ name }) ?? `${list} › ${key}`)];
  const [field, slideKey, ...more] = rest;
  if (field === 'slides' && slideKey !== undefined) {
    const slide = documents
      .map((document) => find(find(document[list], key)?.['slides'], slideKey))
      .find((each) => each !== undefined);
    parts.push(`“${titleOf(slide ?? {}, String(slideKey))}”`);
    parts.push(...more.map((part) => label[part] ?? String(part)));
  } else parts.push(...rest.map((part) => label[part] ?? String(part)));
  if (of === 'order') parts.push(wordOf(label, 'order'));
  return parts.join(' › ');
};

/** The field that both changed; null: a whole record. */
const fieldOf = ({ path }: Conflict): string | null => {
  const last = path.at(-1);
  const isRecord = path.length === 2 || (path[2] === 'slides' && path.length === 4);
  return isRecord || last === undefined ? null : String(last);
};

/**
 * The records of a list that both moved, as one side has them, from the first place where the two differ: by name, and
 * programmes, of which many have the same, with their fields.
 */
const inOrder = (list: readonly Fields[], other: readonly Fields[]): Fields[] =>
  list.slice(list.findIndex((each, at) => keyOf(each) !== keyOf(other[at] ?? {}))).map((each) => {
    if (each['targets'] !== undefined) return each;
    return { id: keyOf(each), title: 'kind' in each ? titleOf(each, String(each['id'])) : nameOf(each) };
  });

/** What the dialog says of each side. */
const shownOf = ({ path, of, mine, theirs }: Conflict): unknown[] => {
  const [own, other] = [mine as Fields[], theirs as Fields[]];
  const sides = of === 'order' ? [inOrder(own, other), inOrder(other, own)] : [mine, theirs];
  return sides.map((each) => redactedPart(path, each));
};

/** The slide that both changed, as one side has it. */
const ConflictPicture = ({
  path: [list, key, part, slideKey],
  document,
}: Pick<Conflict, 'path'> & { document: ContentDocument }) => {
  if (list !== 'playlists' || part !== 'slides' || slideKey === undefined) return null;
  const slides = document.playlists?.find(({ id }) => id === key)?.slides ?? [];
  const slide = slides.find(({ id }) => id === slideKey);
  if (slide === undefined) return null;
  return (
    <span class="conflict-picture">
      <Miniature slide={slide} id={String(slideKey)} />
    </span>
  );
};

interface MergeProps {
  /** Whether the person goes on to publish. */
  mayPublish: boolean;
  onClose(): void;
  onMerged(): void;
}

export const MergeDialog = ({ mayPublish, onClose, onMerged }: MergeProps) => {
  const { draft: openDraft, texts } = useConsole();
  const draft = openDraft();
  const words = texts.merge;
  const theirs = useSignal<ReadonlySet<string>>(new Set());
  const [base, mine, newer] = [draft.base.value, draft.content.value, draft.newer.value];
  if (base === null || mine === null || newer === null) return null;
  const { value, conflicts } = merge(base.content, mine, newer.content, theirs.value);

  const choose = (conflict: Conflict, isTheirs: boolean): void => {
    const next = new Set(theirs.value);
    if (isTheirs) next.add(conflictKey(conflict));
    else next.delete(conflictKey(conflict));
    theirs.value = next;
  };

  return (
    <Dialog title={words.title} onClose={onClose} isWide>
      <div class="stack">
        <p>{conflicts.length === 0 ? words.fits : words.conflicts({ count: conflicts.length })}</p>
        <section>
          <h3>{words.theirs}</h3>
          <ChangeList before={base.content} after={newer.content} />
        </section>
        {conflicts.map((conflict) => {
          const key = conflictKey(conflict);
          const isTheirs = theirs.value.has(key);
          const [own, other] = shownOf(conflict);
          return (
            <fieldset key={key} class="conflict">
              <legend>
                {conflictName(conflict, [mine, newer.content, base.content], {
                  subject: texts.changes.subject,
                  list: { ...texts.contentPage.tab, programmes: texts.contentPage.tab.week },
                  label: { ...texts.publish.field, ...texts.fields.label },
                })}
              </legend>
              {[false, true].map((side) => (
                <label key={String(side)} class={isTheirs === side ? 'side chosen' : 'side'}>
                  <span class="check">
                    <input
                      type="radio"
                      name={key}
                      checked={isTheirs === side}
                      onChange={() => choose(conflict, side)}
                    />
                    {side ? words.useTheirs : words.useMine}
                  </span>
                  <ConflictPicture path={conflict.path} document={side ? newer.content : mine} />
                  <ConflictValue
                    field={fieldOf(conflict)}
                    value={side ? other : own}
                    document={side ? newer.content : mine}
                  />
                </label>
              ))}
              {isEqual(own, other) && <p class="soft">{words.hidden}</p>}
            </fieldset>
          );
        })}
        <div class="buttons end">
          <Button
            class="danger"
            onClick={() => {
              draft.discard();
              onClose();
            }}
          >
            {words.dropMine}
          </Button>
          <Button
            class="primary"
            onClick={() => {
              draft.rebase(newer, value as ContentDocument);
              onMerged();
            }}
          >
            {mayPublish ? words.submit : words.goOn}
          </Button>
        </div>
      </div>
    </Dialog>
  );
};
