/** Secrets of pages: headers that all boxes of the site share sealed, and that only the kiosk reads. */
import { z } from 'zod';
import {
  type Secret,
  type SecretRecord,
  type SecretRequest,
  secretLimits,
  secretName,
  secretRecord,
  secretRequest,
} from '../contract/console/secrets.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { isForgotten, laterThan, newest } from '../domain/merge.ts';
import { originIssue, originOf } from '../domain/page-address.ts';
import { slideId, slideLabel } from '../domain/slides.ts';
import type { EpochMs } from '../domain/time.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import type { ServiceContext, StateReaders } from '../module.ts';
import { createQueue } from '../platform/queue.ts';
import type { Shared } from '../shared/index.ts';

/** What the kiosk adds to requests. */
export type PageHeaders = Pick<SecretRecord, 'origins' | 'headers'>;

export type Secrets = Awaited<ReturnType<typeof createSecrets>>;

const MOST_PUBLIC = 50;

/** How long before the clock was right again a deletion counts as made, so that one who sets the secret then is later. */
const BEFORE_MS = 60_000;

/** Of a record with a date that was set by a wrong clock a deletion stays, of all that was set before. */
export const undatedSecret = (record: SecretRecord, now: EpochMs): SecretRecord => {
  const isDeleted = record.removed_at !== null;
  const updated_at = new Date(isDeleted ? now - BEFORE_MS : 0).toISOString();
  return { ...record, updated_at, removed_at: isDeleted ? updated_at : null };
};

/** The web slides that name a secret, with the place of its name. */
const uses = ({ playlists }: ContentFile): { path: string; label: string; name: string; address: string }[] =>
  playlists.flatMap(({ id, slides }, at) =>
    slides.flatMap((slide, index) => {
      const name = slide.kind === 'web' ? slide.content?.web?.headers : undefined;
      if (slide.kind !== 'web' || name === undefined) return [];
      const path = `playlists[${at}].slides[${index}].content.web.headers`;
      return [{ path, label: slideLabel(slide.title, slideId(id, slide, index)), name, address: slide.media_url }];
    }),
  );

const nameParams = z.object({ name: secretName });
/** @throws CodedError `invalid_field` */
const nameOf = (name: string): string => readFields(nameParams, { name }).name;

/** @throws CodedError `invalid_field` */
const requestOf = (body: Record<string, unknown>): SecretRequest => {
  const request = readFields(secretRequest, body);
  for (const each of request.origins) {
    const issue = originIssue(each);
    if (issue === null) continue;
    throw new CodedError('invalid_field', `origins is not valid: ${issue}.`, { field: 'origins' });
  }
  return request;
};

const shown = ({ id, origins, updated_at }: SecretRecord): Secret => ({ name: id, origins, updated_at });

export const createSecrets = async (
  { options, now }: Pick<ServiceContext, 'options' | 'now'>,
  shared: Pick<Shared, 'open'>,
) => {
  const records = await shared.open<SecretRecord>({
    name: 'secrets',
    schema: secretRecord,
    merge: newest,
    undated: undatedSecret,
    most: secretLimits.records,
    protection: 'sealed',
    isOver: isForgotten,
  });
  const enqueue = createQueue();
  const find = (name: string): SecretRecord | undefined => {
    const record = records.get(name);
    // Sealed records are of sites with a secret alone.
    return options.sharedSecret === null || record?.removed_at !== null ? undefined : record;
  };
  const live = (): SecretRecord[] => records.list().flatMap(({ id }) => find(id) ?? []);

  const set = (name: string, given: PageHeaders): Promise<{ record: SecretRecord; isNew: boolean }> =>
    enqueue(async () => {
      const isNew = find(name) === undefined;
      if (isNew && live().length >= secretLimits.secrets) throw new CodedError('too_many_secrets');
      const updated_at = laterThan(records.get(name)?.updated_at, now());
      const record = { id: name, ...given, updated_at, removed_at: null };
      await records.put(record);
      return { record, isNew };
    });
  const remove = (name: string): Promise<void> =>
    enqueue(async () => {
      const before = find(name);
      if (before === undefined) throw new CodedError('secret_not_found');
      const updated_at = laterThan(before.updated_at, now());
      await records.put({ id: name, origins: [], headers: {}, updated_at, removed_at: updated_at });
    });

  const issues = (content: ContentFile): ContentIssue[] =>
    uses(content).flatMap(({ path, label, name, address }) => {
      const origins = find(name)?.origins;
      if (origins === undefined || origins.includes(originOf(address) ?? '')) return [];
      const message = `${label}: the secret ${JSON.stringify(name)} is for other addresses, and not for the address of this slide`;
      return [{ path, message }];
    });
  const missing = (content: ContentFile): ContentIssue[] =>
    uses(content).flatMap(({ path, label, name }) =>
      find(name) === undefined
        ? [{ path, message: `${label}: there is no secret ${JSON.stringify(name)}: the slide is skipped` }]
        : [],
    );
  const warnings = (content: ContentFile): ContentIssue[] => [...issues(content), ...missing(content)];

  return {
    /** Calls `listener` after secrets changed, here or by another box. */
    onChange: records.onChange,
    /** Null: there is no such secret. */
    get: (name: string): PageHeaders | null => find(name) ?? null,
    /** Web slides that name a secret for an address that is not among its origins, which are an admin's to know. */
    issues,
    /** Web slides of content that may play, whose secret is not here, or is not for their address any more. */
    warnings,
    /** The same of content that plays, for everybody. At most 50. */
    publicWarnings: (content: ContentFile): ContentIssue[] => warnings(content).slice(0, MOST_PUBLIC),
    states: {
      secret: (name) => {
        const record = find(name);
        return record === undefined ? null : { origins: record.origins, headers: Object.keys(record.headers) };
      },
    } satisfies StateReaders,
    routes: {
      'GET /console/api/secrets': (ctx) => {
        ctx.body = {
          secrets: live()
            .map(shown)
            .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        };
      },
      'PUT /console/api/secrets/:name': async (ctx) => {
        if (options.sharedSecret === null) {
          throw new CodedError(
            'secret_required',
            'Secrets of pages need a secret of the site: protect this site first.',
          );
        }
        if (!ctx.state.isSecure && !ctx.state.isLocal) throw new CodedError('secure_required');
        const name = nameOf(ctx.params.name);
        const { record, isNew } = await set(name, requestOf(await readJson(ctx)));
        ctx.status = isNew ? 201 : 200;
        ctx.body = shown(record);
      },
      'DELETE /console/api/secrets/:name': async (ctx) => {
        await remove(nameOf(ctx.params.name));
        ctx.status = 204;
      },
    } satisfies Routes,
  };
};
