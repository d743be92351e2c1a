/** The box's messages about a document, by the path that they concern; pure. */
import type { ContentIssue } from './wire.ts';

/** The issues at a path and below it. */
export const issuesAt = (issues: readonly ContentIssue[], path: string): ContentIssue[] =>
  issues.filter(({ path: at }) => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`));

/** The message without the slide's name, which is shown next to it. */
export const shortMessage = ({ message }: ContentIssue): string => {
  const short = message.replace(/^"(?:[^"\\]|\\.)*": /, '');
  return short.charAt(0).toUpperCase() + short.slice(1);
};
