/** People with tags act on screens with one of these alone. */
import { CodedError } from '../contract/errors.ts';
import { isAllInScope } from '../domain/targets.ts';
import type { Context } from './routes.ts';

interface ScreensOfSite {
  screens(): readonly { slug: string }[];
  tags(slug: string): readonly string[];
}

/** Whether {@link checkScope} can refuse: without tags a person acts on all screens. */
export const hasScope = ({ state: { signer } }: { state: Pick<Context['state'], 'signer'> }): boolean =>
  signer !== null && signer.tags.length > 0;

/**
 * Refuses a change that concerns screens of others. An unknown screen concerns nobody.
 * @param targets slugs, `all`, `tag:NAME`
 * @throws CodedError `out_of_scope`
 */
export const checkScope = (
  { state: { signer } }: { state: Pick<Context['state'], 'signer'> },
  content: ScreensOfSite,
  targets: readonly string[],
): void => {
  if (signer === null || signer.tags.length === 0) return;
  const screens = content.screens().map(({ slug }) => ({ slug, tags: content.tags(slug) }));
  if (isAllInScope(signer.tags, targets, screens)) return;
  throw new CodedError('out_of_scope', `This concerns screens without one of your tags: ${signer.tags.join(', ')}.`);
};
