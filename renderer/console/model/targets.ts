/** The screens of a takeover; pure. */
import { screensOf } from '../../../service/domain/targets.ts';
import { displaysOf } from './displays.ts';
import type { SiteScreen } from './wire.ts';

const TAG = 'tag:';

export const tagTarget = (tag: string): string => TAG + tag;

/** The tag that a target names; null: it names none. */
export const tagOf = (target: string): string | null => (target.startsWith(TAG) ? target.slice(TAG.length) : null);

/** How many screens and displays the targets hit. */
export const reachOf = (
  screens: readonly SiteScreen[],
  targets: readonly string[],
): { screens: number; displays: number } => {
  const bySlug = new Map(screens.map((each) => [each.screen.slug, each]));
  const hit = screensOf(
    targets,
    screens.map(({ screen, tags }) => ({ slug: screen.slug, tags })),
  );
  return {
    screens: hit.length,
    displays: hit.reduce((sum, { slug }) => sum + displaysOf(bySlug.get(slug) as SiteScreen).length, 0),
  };
};
