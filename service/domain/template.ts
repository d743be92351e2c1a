/** What templates may name: the player renders them, the service checks them when the content is read. */

/** The player's names; they win over names of a slide's content. */
export const playerNames = ['content', 'slide', 'screen', 'sources', 'feeds', 'timetables', 'now'] as const;
export type PlayerName = (typeof playerNames)[number];

/** The filters beyond Liquid's own. */
export const templateFilters = ['number', 'percent', 'currency', 'unit', 'day', 'time', 'ago'] as const;
export type TemplateFilter = (typeof templateFilters)[number];

/** Characters of a template, ms of one rendering, and values that it may make; in liquidjs's terms. */
export const templateLimits = { parseLimit: 500_000, renderLimit: 500, memoryLimit: 5_000_000 };
