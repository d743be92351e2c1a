/** Names and filters of templates. The player renders templates; the service checks them when it loads the content. */

/** The player's variables; they take precedence over values of a slide's content. */
export const playerNames = ['content', 'slide', 'screen', 'sources', 'feeds', 'timetables', 'now'] as const;
export type PlayerName = (typeof playerNames)[number];

/** The filters beyond Liquid's own. */
export const templateFilters = ['number', 'percent', 'currency', 'unit', 'day', 'time', 'ago'] as const;
export type TemplateFilter = (typeof templateFilters)[number];

/** Limits of liquidjs: characters of a template, ms per rendering, and allocated values. */
export const templateLimits = { parseLimit: 500_000, renderLimit: 500, memoryLimit: 5_000_000 };
