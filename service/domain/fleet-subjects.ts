/** The subjects, buckets and keys of a fleet on NATS. Pure. */

/** Key-value bucket of the content that is wanted, by site. */
export const CONTENT_BUCKET = 'signage-content';
/** Key-value bucket of the status of boxes, and of what sites play. */
export const STATUS_BUCKET = 'signage-status';
/** The part of a key in {@link STATUS_BUCKET} for the content of the site, instead of a node id. */
export const CONTENT_KEY = 'content';

/** The JetStream streams, by what is published to them. */
export const STREAMS = { plays: 'signage-plays', alerts: 'signage-alerts' } as const;
export type Upward = keyof typeof STREAMS;

/** @param target `all`, a slug, `tag:NAME`, or `*` for all of them */
export const commandSubject = (site: string, target: string): string => `signage.${site}.command.${target}`;
/** @param slug of a screen, or `*` */
export const connectionsSubject = (site: string, slug: string): string => `signage.${site}.connections.${slug}`;
/** @param site its name, or `*` for all sites */
export const upwardSubject = (site: string, kind: Upward): string => `signage.${site}.${kind}`;
/**
 * The hub announces new content of a site here as well: a leaf node passes this subject on, and holds back those that begin
 * with `$KV`.
 */
export const wantedSubject = (site: string): string => `signage.${site}.wanted`;
/** Makes the hub publish the headers of each value of {@link CONTENT_BUCKET} to {@link wantedSubject} (NATS ADR-28). */
export const contentRepublish = {
  src: `$KV.${CONTENT_BUCKET}.*`,
  dest: wantedSubject('{{wildcard(1)}}'),
  headers_only: true,
} as const;
/** The JetStream domain of the hub, by which leaf nodes name it. */
export const HUB_DOMAIN = 'hub';
/** The subject to which a change of a key is published. */
export const keySubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;
/** @param part a node id, or {@link CONTENT_KEY} */
export const statusKey = (site: string, part: string): string => `${site}.${part}`;
/** Where a site receives answers: a prefix of its own, so that no site can listen to the answers of others. */
export const inboxPrefix = (site: string): string => `_INBOX.${site}`;
/** Where the command line receives answers: sites behind a leaf node need permission to send there. */
export const OPERATOR_INBOX = '_INBOX_operator';

/** The last part of a subject: the target of a command, the slug of a screen. */
export const lastToken = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);
