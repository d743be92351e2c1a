/** Alerts: messages to receivers about outages, and the records by which boxes know of them. */
import { z } from 'zod';
import { orUnread, passedOn } from './passed-on.ts';
import { instant } from './terms.ts';

/** What can fail, and the types of the messages about its outage and about its end; null: nothing is said. */
export const alertTypes = {
  device: ['device.away', 'device.back'],
  content: ['content.invalid', 'content.valid'],
  stream: ['stream.failed', 'stream.live'],
  box: ['box.away', 'box.back'],
  storage: ['storage.low', null],
  slide: ['slide.signed_out', null],
  fault: ['slide.failed', null],
  trigger: ['trigger.failed', null],
  person: ['person.joined', null],
  recovery: ['person.recovered', null],
} as const;
export type AlertKind = keyof typeof alertTypes;

/** What is said of once, at once: it has no end. */
export const occasions = ['trigger', 'person', 'recovery'] as const satisfies readonly AlertKind[];
export type Occasion = (typeof occasions)[number];
export type AlertType = NonNullable<(typeof alertTypes)[AlertKind][number]>;

/** The message that a receiver gets. */
export interface Alert {
  type: AlertType;
  /** When the outage began, or ended: ISO 8601 UTC with milliseconds. */
  at: string;
  site: string;
  /** Id of the device, of the box (content, box, storage), of the slide, of the trigger, of the person, or key of the stream. */
  subject: string;
  /** One sentence for a person. */
  message: string;
}

/** `update`: a box whose version is being replaced; no alerts about it and its displays until `at`. */
const recordKinds = [...(Object.keys(alertTypes) as AlertKind[]), 'update'] as const;

const subject = z.string().min(1).max(512);

/**
 * The last message about a subject, which is stored by all boxes: a box that takes over from its sender knows what was
 * said, and repeats what may not have been, with the same id.
 */
export const alertRecord = passedOn(
  z.object({
    kind: z.enum(recordKinds).describe('what it is about; update: the version of a box is being replaced'),
    subject: subject.describe('its id'),
    isFailing: z.boolean().describe('true: about the outage; false: about its end'),
    at: instant.describe('when the outage began, or ended; of an update when it is over'),
    message: z.string().max(2_048).describe('a sentence for people'),
    isSent: z.boolean().describe('false: it is about to be sent, and may have been'),
  }),
).meta({ id: 'AlertRecord' });
export type AlertRecord = z.infer<typeof alertRecord>;

const subjectAndTime = { subject: subject.describe('its id'), at: alertRecord.shape.at };
/** An alert record as boxes exchange and store it. */
export const passedAlert = orUnread(
  alertRecord,
  { kind: z.string().min(1).max(64).describe('what it is about'), ...subjectAndTime },
  4_000,
);

/** Maximum number of stored records. */
export const mostAlertRecords = 2_000;

export const peerAlerts = z
  .object({ records: z.array(passedAlert).max(mostAlertRecords).describe('one per subject') })
  .meta({ id: 'PeerAlerts', description: 'the last message about each subject' });

/** Maximum number of failures and of live streams that a box reports. */
export const mostFailures = 100;

const boxFailure = passedOn(
  z.object({
    kind: z
      .enum(['content', 'stream', 'storage', 'fault'])
      .describe('what has failed; fault: a slide that no display shows'),
    subject: subject.describe('id of the box, key of the stream, or id of the slide'),
    name: z.string().max(512).describe('the subject of the sentence of the message'),
    detail: z.string().max(1_024).optional().describe('the rest of the sentence, if it differs from the default'),
  }),
);

/** Whether this version knows a failure that a box reports. */
export const isKnownFailure = (failure: z.infer<typeof boxFailure>): boolean => boxFailure.safeParse(failure).success;

const receiver = z.enum(['none', 'ok', 'failing']);

/** What a box sees that the others can not: part of its state. */
export const boxAlerts = passedOn(
  z.object({
    receiver: (receiver.or(z.string().max(64)) as unknown as typeof receiver).describe(
      'whether the box has a receiver of alerts, and can reach it: `none`, `ok` or `failing`; another value counts as none',
    ),
    failing: z
      .array(orUnread(boxFailure, {}, 3_000))
      .max(mostFailures)
      .describe('what has failed on it'),
    signedOut: z
      .array(
        z.object({
          subject: subject.describe('id of the slide'),
          name: z.string().max(512).describe('the subject of the sentence of the message'),
        }),
      )
      .max(mostFailures)
      .optional()
      .describe('ids of the slides whose pages are signed out on it; absent: none'),
    live: z.array(subject).max(mostFailures).describe('keys of the streams that are live on it'),
  }),
  2_000,
).meta({ id: 'BoxAlerts' });
export type BoxAlerts = z.infer<typeof boxAlerts>;
