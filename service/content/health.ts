import type { Health } from '../contract/health.ts';

/** What is wrong with the content, for `/healthz`. @param hasScreens whether anything can be shown */
export const contentIssues = (
  { status, errors }: Pick<Health['content'], 'status' | 'errors'>,
  hasScreens: boolean,
): string[] => {
  if (status === 'ok') return hasScreens ? [] : ['The content has no screens.'];
  const [{ path = '', message = '' } = {}] = errors;
  const consequence = hasScreens ? 'the last good content keeps playing' : 'there is nothing to play';
  return [`content.json is not valid, and ${consequence}: ${path === '' ? '' : `${path}: `}${message}.`];
};
