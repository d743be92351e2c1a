/** Publishing: the changes, the affected screens, and the box's messages. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isCode, reasonOf } from '../api/errors.ts';
import { screensConcerned } from '../model/changes.ts';
import { type ContentDocument, shortMessage } from '../model/document.ts';
import { fieldInWords, placeOf } from '../model/issue-place.ts';
import type { ContentIssue } from '../model/wire.ts';
import { hrefOf } from '../stores/router.ts';
import { issuesOfBox } from '../texts/box.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Dialog, Fault } from '../ui/controls.tsx';
import { wordOf } from '../ui/words.ts';
import { ChangeList } from './change-list.tsx';

interface IssueLineProps {
  issue: ContentIssue;
  document: ContentDocument;
  /** Called when its link is followed. */
  onFollow(): void;
}

/** What the box says about the draft: where, by name and with a link to the field, and what is wrong. */
const IssueLine = ({ issue, document, onFollow }: IssueLineProps) => {
  const { texts } = useConsole();
  const { path, name, slide, field } = placeOf(issue, document);
  const labels = { ...texts.publish.field, ...texts.fields.label };
  const label = field === null ? null : fieldInWords(field, (each) => wordOf(labels, each));
  const tab = path[1] === 'json' ? null : wordOf(texts.contentPage.tab, path[1] ?? '');
  const where = [name ?? tab, slide, label].filter((part) => part !== null && part !== '').join(' › ');
  return (
    <li>
      <a href={hrefOf(...path)} onClick={onFollow}>
        {where || texts.publish.document}
      </a>
      : {name === null && slide === null ? issue.message : shortMessage(issue)}
    </li>
  );
};

/** Screens that are named; the rest are counted. */
const MOST_NAMES = 20;

interface PublishProps {
  onClose(): void;
  /** Called if another edit was published in the meantime. */
  onConflict(): void;
}

export const PublishDialog = ({ onClose, onConflict }: PublishProps) => {
  const { draft: openDraft, savedDrafts, texts, format, announcer } = useConsole();
  const draft = openDraft();
  const words = texts.publish;
  const isSending = draft.isPublishing.value;
  const isOpen = useRef(true);
  const fault = useSignal<string | null>(null);
  const refused = useSignal<readonly ContentIssue[]>([]);
  /** The draft before and after what somebody else typed into it was merged. */
  const typed = useSignal<readonly [ContentDocument, ContentDocument] | null>(null);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const [base, content, check] = [draft.base.value, draft.content.value, draft.check.value];
  if (base === null || content === null) return null;
  const screens = screensConcerned(base.content, content);
  const errors = refused.value.length > 0 ? refused.value : (check?.errors ?? []);

  const publish = async (): Promise<void> => {
    fault.value = null;
    typed.value = null;
    try {
      await savedDrafts().publish();
      announcer.say(words.done);
      if (isOpen.current) onClose();
    } catch (error) {
      const reason = `${reasonOf(error, texts)} ${words.kept}`;
      // The person may have gone on editing, and left the dialog.
      if (!isOpen.current) announcer.complain(reason);
      else if (isCode(error, 'content_changed', 'draft_conflict') && draft.newer.peek() !== null) onConflict();
      else if (isCode(error, 'draft_changed')) {
        fault.value = words.typedInto;
        typed.value = [content, draft.content.peek() ?? content];
      } else if (isCode(error, 'invalid_content')) {
        refused.value = issuesOfBox((error.details['errors'] ?? []) as ContentIssue[], texts);
      } else fault.value = reason;
    }
  };

  return (
    <Dialog title={words.title} onClose={onClose} isWide>
      <div class="stack">
        <section>
          <h3>{words.what}</h3>
          <ChangeList before={base.content} after={content} />
        </section>
        <section>
          <h3>{words.where}</h3>
          <p>{screens.length === 0 ? words.nowhere : format.few(screens, MOST_NAMES, texts.wall.more)}</p>
        </section>
        {errors.length > 0 && (
          <section class="notice bad">
            <h3>{words.errors}</h3>
            <ul class="issues">
              {errors.map((issue) => (
                <IssueLine key={`${issue.path} ${issue.message}`} issue={issue} document={content} onFollow={onClose} />
              ))}
            </ul>
          </section>
        )}
        {check !== null && check.warnings.length > 0 && (
          <section class="notice warning">
            <h3>{words.warnings}</h3>
            <ul class="issues">
              {check.warnings.map((issue) => (
                <IssueLine key={`${issue.path} ${issue.message}`} issue={issue} document={content} onFollow={onClose} />
              ))}
            </ul>
          </section>
        )}
        <Fault>{fault.value}</Fault>
        {typed.value !== null && <ChangeList before={typed.value[0]} after={typed.value[1]} />}
        <div class="buttons end">
          <Button onClick={onClose}>{words.goOn}</Button>
          <Button
            class="primary"
            disabled={errors.length > 0}
            aria-disabled={isSending}
            onClick={() => {
              if (!isSending) void publish();
            }}
          >
            {isSending ? texts.loading : words.submit}
          </Button>
        </div>
      </div>
    </Dialog>
  );
};
