/** Which messages about outages are due, and which box of a site sends them. Pure. */
import {
  type AlertKind,
  type AnnouncedAlert,
  alertTypes,
  type BoxAlerts,
  mostAnnounced,
  type OutageRecord,
} from '../../contract/alerts.ts';

export interface Condition {
  kind: AlertKind;
  subject: string;
  /**
   * `silent`: no message is due now, as in closed hours. `gone`: the subject no longer exists, and an outage of it
   * ends without a message. The state of a subject without a condition is unknown.
   */
  status: 'failing' | 'ok' | 'silent' | 'gone';
  /** One sentence for a person. */
  message: string;
}

/** Since when a subject has been failing, or is back. */
interface Watched {
  status: 'failing' | 'ok';
  /** ms, monotonic */
  since: number;
  /** ISO 8601 */
  at: string;
}

export interface Outages {
  /** By {@link keyOf}. */
  watched: ReadonlyMap<string, Watched>;
  /** Outages that were reported to receivers, by {@link keyOf}. */
  records: ReadonlyMap<string, OutageRecord>;
  /** Messages that were about to be sent, and may have been, by {@link keyOf}. */
  announced: ReadonlyMap<string, Announced>;
}

interface Announced {
  alert: AnnouncedAlert;
  /** Until when an observation that contradicts it may be older than it: ms, monotonic. */
  settledAt: number;
}

export const noOutages: Outages = { watched: new Map(), records: new Map(), announced: new Map() };

export interface Observation {
  conditions: readonly Condition[];
  /** ISO 8601 */
  at: string;
}

/** A message that is due, and what is recorded once a receiver has it. */
export interface DueAlert {
  alert: AnnouncedAlert;
  record: OutageRecord;
}

/** Ended outages are kept, so that other boxes receive the end. */
const KEPT_MS = 86_400_000;

export const keyOf = ({ kind, subject }: Pick<OutageRecord, 'kind' | 'subject'>): string => `${kind} ${subject}`;

export const isUnderway = (record: OutageRecord | undefined): record is OutageRecord => record?.endedAt === null;

/** The type of the message that such a condition leads to; null: none. */
const typeOf = ({ kind, status }: Condition) => alertTypes[kind][status === 'failing' ? 0 : 1];

/** A time for a change of a record: always later than its last one, also after a clock was set back. */
const updatedAt = (at: string, before: OutageRecord | undefined): string =>
  before === undefined || before.updatedAt < at ? at : new Date(Date.parse(before.updatedAt) + 1).toISOString();

const messageOf = (
  condition: Condition,
  watched: Watched,
  before: OutageRecord | undefined,
  announced: AnnouncedAlert | undefined,
): DueAlert | null => {
  const { kind, subject } = condition;
  const hasBegun = watched.status === 'failing';
  const type = typeOf(condition);
  const { at, message } = announced?.type === type ? announced : { at: watched.at, message: condition.message };
  const record: OutageRecord = {
    ...{ kind, subject },
    at: hasBegun ? at : (before?.at ?? at),
    endedAt: hasBegun ? null : at,
    updatedAt: updatedAt(at, before),
  };
  return type === null ? null : { alert: { type, at, subject, message }, record };
};

/** Records outages; of each subject the newer record stays. What was announced of it has been sent. */
export const record = (outages: Outages, news: readonly OutageRecord[]): Outages => {
  const records = new Map(outages.records);
  const announced = new Map(outages.announced);
  for (const each of news) {
    const known = records.get(keyOf(each));
    if (known !== undefined && known.updatedAt >= each.updatedAt) continue;
    records.set(keyOf(each), each);
    announced.delete(keyOf(each));
  }
  return { ...outages, records, announced };
};

/**
 * Takes note of messages that are about to be sent. Of a subject the first one stays.
 * @param settledAt boxes see a change some time apart: until then nothing contradicts the messages; ms, monotonic
 */
export const announce = (outages: Outages, alerts: readonly AnnouncedAlert[], settledAt: number): Outages => {
  const announced = new Map(outages.announced);
  for (const alert of alerts) {
    const key = keyOf({ kind: alert.type.split('.')[0] as AlertKind, subject: alert.subject });
    if (announced.get(key)?.alert.type !== alert.type) announced.set(key, { alert, settledAt });
  }
  for (const key of announced.keys()) if (announced.size > mostAnnounced) announced.delete(key);
  return { ...outages, announced };
};

/**
 * Takes in what is observed.
 * @param now ms, monotonic
 * @param graceMs how long something must fail before a message is sent
 * @returns the messages that are due; they stay due until they are {@link record}ed
 */
export const reduce = (
  outages: Outages,
  { conditions, at }: Observation,
  now: number,
  graceMs: number,
): [Outages, DueAlert[]] => {
  const watched = new Map(outages.watched);
  const records = new Map(outages.records);
  const announced = new Map(outages.announced);
  const due: DueAlert[] = [];
  for (const condition of conditions) {
    const key = keyOf(condition);
    const known = records.get(key);
    const { status } = condition;
    if (status === 'silent' || status === 'gone') {
      watched.delete(key);
      if (status === 'gone') announced.delete(key);
      if (status === 'gone' && isUnderway(known)) {
        records.set(key, { ...known, endedAt: at, updatedAt: updatedAt(at, known) });
      }
      continue;
    }
    const announcement = announced.get(key);
    if (announcement !== undefined && announcement.alert.type !== typeOf(condition) && now > announcement.settledAt) {
      // It was never sent, or no longer applies.
      announced.delete(key);
    }
    if (isUnderway(known) === (status === 'failing')) {
      // Already reported, or recovered within the grace period.
      watched.delete(key);
      continue;
    }
    const before = watched.get(key);
    const current = before?.status === status ? before : { status, since: now, at };
    watched.set(key, current);
    if (status === 'failing' && now - current.since < graceMs) continue;
    const message = messageOf(condition, current, known, announced.get(key)?.alert);
    if (message !== null) due.push(message);
    else if (isUnderway(known)) records.set(key, { ...known, endedAt: at, updatedAt: updatedAt(at, known) });
  }
  const oldest = new Date(Date.parse(at) - KEPT_MS).toISOString();
  for (const [key, { endedAt }] of records) if (endedAt !== null && endedAt < oldest) records.delete(key);
  for (const [key, { alert }] of announced) if (alert.at < oldest) announced.delete(key);
  return [{ watched, records, announced }, due];
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
