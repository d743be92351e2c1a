/** Checks what plays for mistakes that a schema lets pass, in the background, and says them in the log once a change. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createWorker } from '../platform/worker.ts';
import type { ContentFile, Fault } from './file.ts';
import type { TemplateCheck } from './templates.ts';
import type { TemplateReading } from './thread.ts';
import { warningsOf } from './warnings.ts';

export interface Checker {
  /** Begins to check, in place of what is still being checked. */
  check(content: ContentFile): void;
  /** What was found. Waits for a check that is under way, but not for long: then the findings before it. */
  warnings(): Promise<Fault[]>;
  close(): Promise<void>;
}

/** One template may take this long, and all of them. */
const PATIENCE_MS = 3_000;
const TOTAL_MS = 15_000;
const IDLE_MS = 5_000;
/** A request waits this long for a check. */
const WAIT_MS = 2_000;

const keyOf = (html: string): string => createHash('sha256').update(html).digest('base64');

export const createChecker = ({ log }: { log: Logger }, { timeZone }: { timeZone: string }): Checker => {
  const worker = createWorker<string>({
    bundle: 'templates-thread',
    source: 'content/thread.ts',
    patienceMs: PATIENCE_MS,
    idleMs: IDLE_MS,
  });
  /** Of the templates that play, by the hash of their text. */
  let known = new Map<string, TemplateCheck>();
  let found: Fault[] = [];
  let logged = '';
  let latest = 0;
  let checking: Promise<void> = Promise.resolve();

  const read = async (html: string): Promise<TemplateCheck> =>
    worker.ask(html).then(
      (reading) => reading as TemplateReading,
      (error: Error) => ({ error: error.message }),
    );

  const readTemplates = async (content: ContentFile, isWanted: () => boolean): Promise<Map<string, TemplateCheck>> => {
    const checks = new Map<string, TemplateCheck>();
    const byText = new Map<string, TemplateCheck>();
    const deadline = performance.now() + TOTAL_MS;
    for (const { id, html } of content.templates) {
      if (!isWanted() || performance.now() > deadline) break;
      const key = keyOf(html);
      const check = byText.get(key) ?? known.get(key) ?? (await read(html));
      byText.set(key, check);
      checks.set(id, check);
    }
    if (isWanted()) known = byText;
    return checks;
  };

  const run = async (content: ContentFile, number: number): Promise<void> => {
    const isWanted = (): boolean => number === latest;
    const templates = content.templates.length === 0 ? new Map() : await readTemplates(content, isWanted);
    if (!isWanted()) return;
    found = warningsOf(content, timeZone, templates);
    const text = JSON.stringify(found);
    if (found.length > 0 && text !== logged) {
      log.warn({ warnings: found }, 'the content is valid, but some of it will not play as intended');
    }
    logged = text;
  };

  return {
    check: (content) => {
      latest += 1;
      checking = run(content, latest).catch((error: unknown) => {
        log.error({ err: error }, 'the content could not be checked for mistakes');
      });
    },
    warnings: async () => {
      const stop = new AbortController();
      await Promise.race([checking, delay(WAIT_MS, undefined, { signal: stop.signal }).catch(() => {})]);
      stop.abort();
      return found;
    },
    close: async () => {
      latest += 1;
      await worker.close();
      await checking;
    },
  };
};
