/** Who did what and when: the audit of the site, newest first. */
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { AuditRecord } from '../../../service/contract/console/site.ts';
import { errorTable } from '../../../service/contract/errors.ts';
import { addDays } from '../../../service/domain/wall-time.ts';
import { ChangeList } from '../content/change-list.tsx';
import type { ContentDocument } from '../model/document.ts';
import { slideNames } from '../model/playable.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Empty, Failure } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { DayFilter, Filter, useScreenOptions } from '../ui/inputs.tsx';
import { csvOf, saveFile } from '../ui/save-file.ts';
import { didOf, type Names } from './did.ts';

const PAGE = 200;
const ANSWER_MS = 30_000;

const kinds = [
  ...(['content', 'draft', 'screen', 'takeover', 'trigger', 'device', 'medium', 'box', 'person', 'key'] as const),
  ...(['secret', 'session', 'ca', 'credentials'] as const),
] as const;

const refusals: Readonly<Partial<Record<string, readonly [number, string]>>> = errorTable;

const shaOf = (state: unknown): string | null => {
  const sha256 = (state as { sha256?: unknown } | null)?.sha256;
  return typeof sha256 === 'string' ? sha256 : null;
};

/** What a publish changed, fetched when it is asked for. */
const Difference = ({ before, after }: { before: string | null; after: string }) => {
  const { client, texts } = useConsole();
  const words = texts.history;
  const found = useSignal<[ContentDocument, ContentDocument] | null>(null);
  const isGone = useSignal(false);
  const load = async (): Promise<void> => {
    if (found.value !== null) return;
    const read = (sha256: string) =>
      client.json<ContentDocument>(`/console/api/content/versions/${sha256}`, { timeout: ANSWER_MS });
    const empty: ContentDocument = { screens: [] };
    try {
      found.value = await Promise.all([before === null ? empty : read(before), read(after)]);
    } catch {
      isGone.value = true;
    }
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && void load()}>
      <summary>{words.difference}</summary>
      {isGone.value ? (
        <p class="soft">{words.differenceGone}</p>
      ) : found.value === null ? (
        <p class="soft">{texts.loading}</p>
      ) : (
        <ChangeList before={found.value[0]} after={found.value[1]} />
      )}
    </details>
  );
};

export const Changes = () => {
  const { client, documents, site, announcer, texts, format } = useConsole();
  const words = texts.history;
  const screens = useScreenOptions();
  const listId = useId();
  const [date, screen, person, kind] = [useSignal(''), useSignal(''), useSignal(''), useSignal('')];
  const isFiltered = [date, screen, person, kind].some(({ value }) => value.trim() !== '');
  const records = useSignal<readonly AuditRecord[] | null>(null);
  const people = useSignal<ReadonlySet<string>>(new Set());
  const isMore = useSignal(false);
  const isDegraded = useSignal(false);
  const error = useSignal<unknown>(null);
  const attempt = useSignal(0);

  const loading = useRef(new AbortController());
  const load = async (to: string | null, signal: AbortSignal): Promise<void> => {
    const query = new URLSearchParams({ limit: String(PAGE) });
    if (screen.value !== '') query.set('screen', screen.value);
    if (person.value.trim() !== '') query.set('operator', person.value.trim());
    if (kind.value !== '') query.set('kind', kind.value);
    if (date.value !== '') {
      query.set('from', date.value);
      query.set('to', addDays(date.value, 1));
    }
    if (to !== null) query.set('to', to);
    const answer = await client.json<{ records: AuditRecord[]; degraded: boolean }>(`/console/api/audit?${query}`, {
      timeout: ANSWER_MS,
    });
    if (signal.aborted) return;
    records.value = [...(to === null ? [] : (records.value ?? [])), ...answer.records];
    people.value = new Set([...people.value, ...answer.records.flatMap(({ operator }) => operator ?? [])]);
    isMore.value = answer.records.length >= PAGE;
    isDegraded.value = answer.degraded;
    error.value = null;
  };
  /** What was asked for before counts no more. @param to absent: the newest */
  const ask = (to: string | null = null): void => {
    loading.current.abort();
    loading.current = new AbortController();
    const { signal } = loading.current;
    load(to, signal).catch((reason: unknown) => {
      if (signal.aborted) return;
      error.value = reason;
      if (to !== null) announcer.report(reason);
    });
  };
  useEffect(() => {
    records.value = null;
    ask();
    return () => loading.current.abort();
  }, [date.value, screen.value, person.value, kind.value, attempt.value]);

  const screenName = (slug: string): string => site.screen(slug)?.value.screen.name ?? slug;
  const devices = new Map(
    site.screens().flatMap((each) => each.devices.map((device) => [device.deviceId, device.clientName] as const)),
  );
  const names: Names = {
    screen: screenName,
    device: (deviceId) => devices.get(deviceId) ?? deviceId,
    slide: (id) => slideNames(documents.current.value?.content ?? {}).get(id) ?? null,
    box: (nodeId) => site.overview.value?.boxes.find((box) => box.nodeId === nodeId)?.name ?? nodeId,
    target: (target) =>
      target === 'all'
        ? texts.takeover.everywhere
        : target.startsWith('tag:')
          ? words.tagged({ tag: target.slice('tag:'.length) })
          : screenName(target),
    list: format.list,
  };
  const sentence = (record: AuditRecord): string => didOf(record, names, words);
  const whoOf = ({ operator, action, address }: AuditRecord): string => {
    if (action === 'trigger.fire') return words.aTrigger;
    return operator ?? (address === null ? words.theBox : words.unnamed);
  };
  /** The sentence of an error; a code of a newer version has none. */
  const reasonOf = (code: string): string => {
    const sentence = refusals[code]?.[1];
    return sentence === undefined ? code : texts.ofBox(sentence);
  };
  const save = (): void => {
    const rows = (records.value ?? []).map((record) => [
      record.at,
      whoOf(record),
      record.address ?? '',
      sentence(record),
      record.action,
      record.target ?? '',
      record.result,
    ]);
    const head = [words.time, words.person, words.address, words.what, 'action', 'target', 'result'];
    saveFile('history.csv', new Blob([csvOf([head, ...rows])], { type: 'text/csv' }));
  };

  const shown = records.value;
  return (
    <>
      <div class="row filters-row history-filters">
        <DayFilter date={date} />
        <label class="filter">
          <span>{words.person}</span>
          <input
            value={person.value}
            list={listId}
            placeholder={words.everybody}
            autocomplete="off"
            onChange={(event) => (person.value = event.currentTarget.value)}
          />
          <datalist id={listId}>
            {[...people.value].map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </label>
        <Filter label={texts.plays.screen} chosen={screen} options={screens} />
        <Filter
          label={words.what}
          chosen={kind}
          options={[['', words.everything], ...kinds.map((each) => [each, words.kind[each]] as const)]}
        />
        <Button class="small" disabled={shown === null || shown.length === 0} onClick={save}>
          <Icon name="download" /> {texts.plays.save}
        </Button>
      </div>
      {isDegraded.value && <p class="notice warning">{texts.degraded}</p>}
      {error.value !== null && shown === null ? (
        <Failure reason={error.value} onRetry={() => (attempt.value += 1)} />
      ) : shown === null ? (
        <p class="soft" role="status">
          {texts.loading}
        </p>
      ) : shown.length === 0 ? (
        <Empty title={isFiltered ? words.none : words.noneYet}>
          <p>{isFiltered ? words.noneTask : words.noneYetTask}</p>
        </Empty>
      ) : (
        <ol class="history">
          {shown.map((record, index) => {
            const at = Date.parse(record.at);
            const day = format.longDay(at);
            const isNewDay = index === 0 || format.longDay(Date.parse(shown[index - 1]?.at ?? '')) !== day;
            const [before, after] = [shaOf(record.before), shaOf(record.after)];
            const isPublish = record.action === 'content.publish' || record.action === 'draft.publish';
            return (
              <li
                key={`${record.at} ${record.node_id} ${index}`}
                class={isNewDay ? 'history-row first' : 'history-row'}
              >
                {isNewDay && <h2 class="history-day">{day}</h2>}
                <time dateTime={record.at}>{format.exactTime(at)}</time>
                <span class="history-who">{whoOf(record)}</span>
                <div class="history-what">
                  <p>{sentence(record)}</p>
                  {record.result !== 'ok' && (
                    <p class="state bad">{words.failed({ reason: reasonOf(record.result) })}</p>
                  )}
                  {isPublish && after !== null && after !== before && <Difference before={before} after={after} />}
                </div>
              </li>
            );
          })}
        </ol>
      )}
      {shown !== null && isMore.value && <Button onClick={() => ask(shown.at(-1)?.at)}>{words.earlier}</Button>}
      <p class="hint">{texts.plan.zone({ timeZone: format.zone })}</p>
    </>
  );
};
