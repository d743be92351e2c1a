/** Which messages about outages are due, and which box of a site sends them. Pure. */
import {
  type AlertKind,
  type AlertRecord,
  type AlertType,
  alertRecord,
  alertTypes,
  type BoxAlerts,
  mostAlertRecords,
  occasions,
} from '../../contract/alerts.ts';
import { isPlausibleTime, laterThan } from '../../domain/merge.ts';
import type { EpochMs, MonotonicMs } from '../../domain/time.ts';

export interface Condition {
  kind: AlertKind;
  subject: string;
  /**
   * `silent`: no message is due now, as in closed hours. `gone`: the subject no longer exists, and an outage of it
   * ends without a message. The state of a subject without a condition is unknown.
   */
  status: 'failing' | 'ok' | 'silent' | 'gone';
  message: string;
}

/** Since when a subject has been failing, or is back. */
interface Watched {
  status: 'failing' | 'ok';
  since: MonotonicMs;
  at: EpochMs;
  /** When a condition named it last. */
  seenAt: MonotonicMs;
}

export interface Outages {
  /** By {@link keyOf}. */
  watched: ReadonlyMap<string, Watched>;
  /** The last message about each subject, by {@link keyOf}. */
  records: ReadonlyMap<string, AlertRecord>;
}

export const noOutages: Outages = { watched: new Map(), records: new Map() };

/**
 * What waits for a receiver that is away is kept, and ended outages for as long: a box that was away with the message
 * does not say it again.
 */
const KEPT_MS = 30 * 86_400_000;

export const keyOf = ({ kind, subject }: Pick<AlertRecord, 'kind' | 'subject'>): string => `${kind} ${subject}`;

/** The subject as receivers have it: a slide without the box, which the message names. */
export const shownSubject = ({ kind, subject }: Pick<AlertRecord, 'kind' | 'subject'>): string =>
  kind === 'slide' ? subject.replace(/ \S+$/, '') : subject;

/** The type of a message; null: nothing is said. */
export const typeOf = ({ kind, isFailing }: Pick<AlertRecord, 'kind' | 'isFailing'>): AlertType | null =>
  kind === 'update' ? null : alertTypes[kind][isFailing ? 0 : 1];

/** A stored record, if this version knows what it says. */
export const readable = (stored: AlertRecord | undefined): AlertRecord | undefined =>
  stored !== undefined && alertRecord.safeParse(stored).success ? stored : undefined;

const isOccasion = ({ kind }: Pick<AlertRecord, 'kind'>): boolean => occasions.some((each) => each === kind);

const isNewer = (a: AlertRecord, b: AlertRecord): boolean => (a.at === b.at ? a.isSent && !b.isSent : a.at > b.at);

/** Adds records; of each subject the newer one stays, and of all {@link mostAlertRecords}. @returns `outages` if none is */
export const record = (outages: Outages, news: readonly AlertRecord[], now: EpochMs): Outages => {
  const records = new Map(outages.records);
  let isChanged = false;
  for (const each of news) {
    const known = records.get(keyOf(each));
    if (!isPlausibleTime(each.at, now) || (known !== undefined && !isNewer(each, known))) continue;
    records.set(keyOf(each), each);
    isChanged = true;
  }
  if (!isChanged) return outages;
  // What is over and told goes first: the rest would be told twice, or never.
  const isOver = ({ isFailing, isSent }: AlertRecord): number => Number(!isFailing && isSent !== false);
  const newest = [...records]
    .toSorted(([, a], [, b]) => isOver(a) - isOver(b) || (a.at < b.at ? 1 : -1))
    .slice(0, mostAlertRecords);
  return { ...outages, records: new Map(newest) };
};

/**
 * Takes in what is observed.
 * @param graceMs how long something must fail before a message is sent
 * @returns the messages that are due; they stay due until they are {@link record}ed as sent
 */
export const reduce = (
  outages: Outages,
  conditions: readonly Condition[],
  { now, monotonicNow }: { now: EpochMs; monotonicNow: MonotonicMs },
  graceMs: number,
): [Outages, AlertRecord[]] => {
  const watched = new Map(outages.watched);
  const oldest = new Date(now - KEPT_MS).toISOString();
  const isKept = (each: AlertRecord): boolean =>
    each.at >= oldest || (each.isFailing && each.isSent && !isOccasion(each));
  const records = new Map([...outages.records].filter(([, each]) => isKept(each)));
  const due: AlertRecord[] = [];
  for (const { kind, subject, status, message } of conditions) {
    const key = keyOf({ kind, subject });
    const known = readable(records.get(key));
    const isFailing = status === 'failing';
    const changed = (at: EpochMs): AlertRecord => ({
      kind,
      subject,
      isFailing,
      at: laterThan(known?.at, at),
      message,
      isSent: false,
    });
    const endSilently = (): void => {
      if (known?.isFailing) records.set(key, { ...changed(now), isSent: true });
    };
    if (status === 'silent' || status === 'gone') {
      watched.delete(key);
      if (status === 'gone') endSilently();
      continue;
    }
    const before = watched.get(key);
    const { since, at } = before?.status === status ? before : { since: monotonicNow, at: now };
    if (known?.isSent === false) {
      due.push(known);
      // A receiver that was away is then told since when it is otherwise. Outages in between are one with the first.
      if (isFailing === known.isFailing) watched.delete(key);
      else watched.set(key, { status, since, at, seenAt: monotonicNow });
      continue;
    }
    if (isFailing === (known?.isFailing ?? false)) {
      // Already reported, or recovered within the grace period.
      watched.delete(key);
      continue;
    }
    watched.set(key, { status, since, at, seenAt: monotonicNow });
    if (isFailing && monotonicNow - since < graceMs) continue;
    if (typeOf({ kind, isFailing }) === null) endSilently();
    else due.push(changed(at));
  }
  // What is unknown for longer may have ended in between.
  for (const [key, { seenAt }] of watched) if (monotonicNow - seenAt > graceMs) watched.delete(key);
  for (const known of records.values())
    if (isOccasion(known) && known.isSent === false && readable(known)) due.push(known);
  return [{ watched, records }, due];
};

/** A box that is alive, and whether it reaches a receiver. */
export interface Speaker {
  nodeId: string;
  receiver: BoxAlerts['receiver'];
}

/**
 * The box that sends the messages of a site: of those that reach their receiver the one with the lowest id; if none
 * does, of those that have one.
 * @returns null: no box has a receiver
 */
export const speakerOf = (boxes: readonly Speaker[]): string | null => {
  const able = boxes.filter(({ receiver }) => receiver === 'ok');
  const candidates = able.length > 0 ? able : boxes.filter(({ receiver }) => receiver === 'failing');
  return candidates.map(({ nodeId }) => nodeId).toSorted()[0] ?? null;
};
