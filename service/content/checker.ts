/** Checks the playing content in the background for mistakes that the schema allows, and logs them once per change. */
import { createHash } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { remember } from '../domain/collections.ts';
import { addDays, instantOf, type Span, wallTimeOf } from '../domain/wall-time.ts';
import type { ServiceContext } from '../module.ts';
import { inSlices } from '../platform/slices.ts';
import { createWorker } from '../platform/worker.ts';
import type { FontCheck } from './fonts.ts';
import type { TemplateCheck } from './templates.ts';
import type { TemplateReading } from './thread.ts';
import { warningSteps } from './warnings.ts';

/** Checks of templates that are remembered. */
const MAX_KNOWN = 1_000;

const keyOf = (html: string): string => createHash('sha256').update(html).digest('base64');

export const createChecker = (
  { options, log, now, tempo }: Pick<ServiceContext, 'options' | 'log' | 'now' | 'tempo'>,
  fonts: Pick<FontCheck, 'issues'>,
) => {
  const worker = createWorker<string>({
    bundle: 'templates-thread',
    source: 'content/thread.ts',
    patienceMs: tempo.content.template,
    idleMs: tempo.content.idle,
  });
  /** Checks of templates, finished or running, by the hash of their text. */
  const known = new Map<string, Promise<TemplateCheck>>();
  let found: ContentIssue[] = [];
  let logged = '';
  let latest = 0;
  let checked: ContentFile | null = null;
  /** Of `checked`. */
  let unknown: readonly ContentIssue[] = [];
  /** The day of the site on which it was checked. */
  let day: Span = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };
  /** The warnings of `checked`; null: the check was abandoned or failed. */
  let checking: Promise<ContentIssue[] | null> = Promise.resolve(null);

  const read = (html: string): Promise<TemplateCheck> => {
    const key = keyOf(html);
    const check =
      known.get(key) ??
      worker.ask(html).then(
        (reading) => reading as TemplateReading,
        (error: Error) => ({ error: error.message }),
      );
    remember(known, key, check, MAX_KNOWN);
    return check;
  };

  /** Gives up when the time is over, or `isCurrent` is false. */
  const readTemplates = async (
    { templates }: ContentFile,
    isCurrent: () => boolean,
  ): Promise<Map<string, TemplateCheck>> => {
    const checks = new Map<string, TemplateCheck>();
    const deadline = performance.now() + tempo.content.templates;
    for (const { id, html } of templates) {
      if (!isCurrent() || performance.now() > deadline) break;
      checks.set(id, await read(html));
    }
    return checks;
  };

  const judge = async (content: ContentFile, isCurrent: () => boolean): Promise<ContentIssue[]> => {
    return inSlices(warningSteps(content, options, await readTemplates(content, isCurrent), now()));
  };

  const run = async (
    content: ContentFile,
    leftOut: readonly ContentIssue[],
    number: number,
  ): Promise<ContentIssue[] | null> => {
    const isCurrent = (): boolean => number === latest;
    // The pages come first.
    await nextTurn();
    const warnings = [...leftOut, ...(await judge(content, isCurrent))];
    if (!isCurrent()) return null;
    found = warnings;
    const text = JSON.stringify(found);
    if (found.length > 0 && text !== logged) {
      log.warn({ warnings: found }, 'the content is valid, but some of it will not play as intended');
    }
    logged = text;
    return found;
  };

  const check = (content: ContentFile, leftOut: readonly ContentIssue[]): void => {
    latest += 1;
    checked = content;
    unknown = leftOut;
    const { timeZone } = options;
    const { date } = wallTimeOf(now(), timeZone);
    day = { start: instantOf(date, '00:00', timeZone), end: instantOf(addDays(date, 1), '00:00', timeZone) };
    checking = run(content, leftOut, latest).catch((error: unknown) => {
      log.error({ err: error }, 'the content could not be checked for mistakes');
      return null;
    });
  };

  return {
    /** Starts a check; a running one is abandoned. @param leftOut what of it this version does not know */
    check,
    /** Checks the same again where another day of the site has begun: what is over, or passed over, depends on the day. */
    follow: (): void => {
      const at = now();
      if (checked !== null && (at < day.start || at >= day.end)) check(checked, unknown);
    },
    /** Mistakes in any content that the schema allows. Takes as long as `templates` of the tempo, and the checks before it. */
    judge: async (content: ContentFile): Promise<ContentIssue[]> => [
      // Content that was just published is being checked already.
      ...((content === checked ? await checking : null) ?? (await judge(content, () => true))),
      ...(await fonts.issues(content)),
    ],
    /** The latest warnings. Waits a little for a running check, then returns those of the check before. */
    warnings: async (): Promise<ContentIssue[]> => {
      const stop = new AbortController();
      await Promise.race([checking, delay(tempo.content.warnings, undefined, { signal: stop.signal }).catch(() => {})]);
      stop.abort();
      // A font can be uploaded after the content that names it.
      return checked?.style?.fonts === undefined ? found : [...found, ...(await fonts.issues(checked))];
    },
    close: async (): Promise<void> => {
      latest += 1;
      await worker.close();
      await checking;
    },
  };
};
