/** What a takeover or a command is for: `all`, the slug of a screen, or `tag:NAME` for the screens with a tag. Pure. */

interface Targetable {
  slug: string;
  tags: readonly string[];
}

const TAG = 'tag:';

/** Whether one of the targets is for the screen. */
export const isTargeted = (targets: readonly string[], { slug, tags }: Targetable): boolean =>
  targets.some(
    (target) =>
      target === 'all' || target === slug || (target.startsWith(TAG) && tags.includes(target.slice(TAG.length))),
  );

/** The screens that the targets are for, each once, in the order of `screens`. */
export const screensOf = <Screen extends Targetable>(
  targets: readonly string[],
  screens: readonly Screen[],
): Screen[] => screens.filter((screen) => isTargeted(targets, screen));

/** The targets that are for no screen. `all` is known even if there are no screens. */
export const unknownTargets = (targets: readonly string[], screens: readonly Targetable[]): string[] =>
  targets.filter((target) => target !== 'all' && !screens.some((screen) => isTargeted([target], screen)));

/**
 * Whether all that the targets are for has one of a person's tags: each screen that they match now, and each tag that they
 * name, since other screens may get it.
 */
export const isAllInScope = (
  tags: readonly string[],
  targets: readonly string[],
  screens: readonly Targetable[],
): boolean =>
  targets.every((target) => target !== 'all' && (!target.startsWith(TAG) || tags.includes(target.slice(TAG.length)))) &&
  screensOf(targets, screens).every((screen) => screen.tags.some((tag) => tags.includes(tag)));
