/** The subjects, buckets and keys of a fleet on NATS, and what the accounts of sites import. Pure. */

/** Key-value bucket of the content that is wanted, by site. */
export const CONTENT_BUCKET = 'signage-content';
/** Key-value bucket of the status of boxes, and of what sites play. */
export const STATUS_BUCKET = 'signage-status';
/** The part of a key in {@link STATUS_BUCKET} for the content of the site, instead of a node id. */
export const CONTENT_KEY = 'content';

/** The JetStream streams, by what is published to them. */
export const STREAMS = { plays: 'signage-plays', alerts: 'signage-alerts' } as const;
export type Upward = keyof typeof STREAMS;

export const streamOf = (bucket: string): string => `KV_${bucket}`;

/** @param target `all`, a slug, `tag:NAME`, or `*` for all of them */
export const commandSubject = (site: string, target: string): string => `signage.${site}.command.${target}`;
/** @param slug of a screen, or `*` */
export const connectionsSubject = (site: string, slug: string): string => `signage.${site}.connections.${slug}`;
/** Where a site answers: the reply of a request. @param id random, or `*` */
export const answerSubject = (site: string, id: string): string => `signage.${site}.answer.${id}`;
/** @param site its name, or `*` for all sites; @param node id of the box, or `*` */
export const upwardSubject = (site: string, kind: Upward, node: string): string => `signage.${site}.${kind}.${node}`;
/** The hub announces new content of a site here: changes of buckets do not reach the accounts of sites. */
export const wantedSubject = (site: string): string => `signage.${site}.wanted`;
/** Makes the hub publish the headers of each value of {@link CONTENT_BUCKET} to {@link wantedSubject} (NATS ADR-28). */
export const contentRepublish = {
  src: `$KV.${CONTENT_BUCKET}.*`,
  dest: wantedSubject('{{wildcard(1)}}'),
  headers_only: true,
} as const;

/** The subject of a key, to which its values are published. */
export const keySubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;
/** @param part a node id, or {@link CONTENT_KEY} */
export const statusKey = (site: string, part: string): string => `${site}.${part}`;
/** The subject of a request for the newest message of a subject, and of no other (NATS ADR-31). */
const readSubject = (stream: string, subject: string): string => `DIRECT.GET.${stream}.${subject}`;

/** The JetStream domain of the hub. */
export const HUB_DOMAIN = 'hub';
/**
 * The prefix under which a site reaches JetStream of the head office (NATS ADR-19): a leaf node holds back `$JS.API` and
 * `$KV`.
 */
export const SITE_API = 'JS.hub.API';

/** What a site reaches in the account of the head office. @param site its name, or `*` for all sites */
export const reachOf = (site: string) => {
  const status = keySubject(STATUS_BUCKET, statusKey(site, '*'));
  return {
    /** Requests of the site to JetStream, without the prefix {@link SITE_API}. */
    jetstream: [
      status,
      readSubject(streamOf(CONTENT_BUCKET), keySubject(CONTENT_BUCKET, site)),
      readSubject(streamOf(STATUS_BUCKET), status),
      readSubject(STREAMS.plays, upwardSubject(site, 'plays', '*')),
      readSubject(STREAMS.alerts, upwardSubject(site, 'alerts', '*')),
    ],
    /** Other messages of the site: services of NATS. */
    services: [answerSubject(site, '*'), upwardSubject(site, 'plays', '*'), upwardSubject(site, 'alerts', '*')],
    /** Messages to the site: streams of NATS. */
    streams: [commandSubject(site, '*'), connectionsSubject(site, '*'), wantedSubject(site)],
  };
};

/** The last part of a subject: the target of a command, the slug of a screen, the id of a box. */
export const lastToken = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);
/** The site of a subject `signage.SITE.…`. */
export const siteOf = (subject: string): string => subject.split('.')[1] ?? '';
/** The id of a record in a stream (`Nats-Msg-Id`). */
export const recordId = (site: string, id: string): string => `${site}:${id}`;

/** Headers of a document in {@link CONTENT_BUCKET}: the id of the push, and when it was pushed (ISO 8601). */
export const PUSH_HEADERS = { id: 'Signage-Push', at: 'Signage-Pushed-At' } as const;
