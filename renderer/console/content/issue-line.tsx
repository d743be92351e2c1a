/** What the box says about the draft: where, by name and with a link to the field, and what is wrong. */
import { type ContentDocument, shortMessage } from '../model/document.ts';
import { fieldInWords, placeOf } from '../model/issue-place.ts';
import type { ContentIssue } from '../model/wire.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { wordOf } from '../ui/words.ts';

interface IssueLineProps {
  issue: ContentIssue;
  document: ContentDocument;
  /** Called when its link is followed. */
  onFollow(): void;
}

export const IssueLine = ({ issue, document, onFollow }: IssueLineProps) => {
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
      : {shortMessage(issue)}
    </li>
  );
};
