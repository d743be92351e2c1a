/** `PUT` and `DELETE /console/api/takeovers/{id}`. */
import { z } from 'zod';
import type { Content } from '../content/index.ts';
import { mostTakeoverDays } from '../contract/console/takeover-levels.ts';
import { endOfTakeover, type TakeoverRequest, takeoverId, takeoverRequest } from '../contract/console/takeovers.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { withoutCredentials } from '../domain/media-names.ts';
import { pictureKindOf } from '../domain/media-types.ts';
import { unknownTargets } from '../domain/targets.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import { checkScope } from '../http/scope.ts';
import type { Peers } from '../peers/index.ts';
import type { NewTakeover, Takeovers } from '../takeovers/index.ts';
import { countDisplays } from './overview.ts';
import type { Site } from './site.ts';

interface Dependencies {
  takeovers: Pick<Takeovers, 'now' | 'put' | 'end'>;
  content: Pick<Content, 'screens' | 'tags'>;
  peers: Pick<Peers, 'sendTakeover'>;
  site: Pick<Site, 'take'>;
}

type Screens = Parameters<typeof unknownTargets>[1];

const invalid = (field: string, reason: string): CodedError =>
  new CodedError('invalid_field', `${field} is not valid: ${reason}.`, { field });

/**
 * The takeover that a request asks for. Pure.
 * @param now ms since the epoch
 * @throws CodedError `missing_field` or `invalid_field`
 */
export const takeoverOf = (id: string, request: TakeoverRequest, screens: Screens, now: number): NewTakeover => {
  const { targets, level, until } = request;
  const [title, body, media_url] = [request.title, request.body, request.media_url].map((text) => text?.trim() || null);
  const from = request.from ?? new Date(now).toISOString();
  if (title == null && media_url == null) {
    throw new CodedError('missing_field', 'title is missing: a takeover needs a title or a media_url.', {
      field: 'title',
    });
  }
  const [unknown] = unknownTargets(targets, screens);
  if (unknown !== undefined) {
    throw invalid(
      'targets',
      `there is no screen ${unknown.startsWith('tag:') ? 'with the tag ' : ''}${JSON.stringify(unknown)}`,
    );
  }
  if (media_url != null && pictureKindOf(media_url) === null)
    throw invalid('media_url', 'a takeover shows a picture or a film');
  if (media_url != null && withoutCredentials(media_url) !== media_url)
    throw invalid('media_url', 'everybody can read it, so it takes no user name and no password');
  const end = endOfTakeover({ until });
  const length = end - Date.parse(from);
  if (until === null && level !== 'emergency')
    throw invalid('until', 'only an emergency lasts until it is ended; give an end');
  if (length <= 0) throw invalid('until', 'a takeover ends after it begins');
  if (until !== null && length > mostTakeoverDays * 86_400_000)
    throw invalid('until', `a takeover lasts ${mostTakeoverDays} days at most`);
  if (end <= now) throw invalid('until', 'this time is past');
  return {
    id,
    targets: [...new Set(targets)],
    level,
    title: title ?? null,
    body: body ?? null,
    media_url: media_url ?? null,
    from,
    until,
  };
};

const idParams = z.object({ id: takeoverId });
const idOf = (id: string): string => readFields(idParams, { id }).id;

export const takeoverRoutes = ({ takeovers, content, peers, site }: Dependencies): Routes => ({
  'PUT /console/api/takeovers/:id': async (ctx) => {
    const id = idOf(ctx.params.id);
    const request = readFields(takeoverRequest, await readJson(ctx));
    checkScope(ctx, content, request.targets);
    const screens = content.screens().map(({ slug }) => ({ slug, tags: content.tags(slug) }));
    const takeover = takeoverOf(id, request, screens, takeovers.now());
    const { record, isNew } = await takeovers.put(takeover, (replaced) => checkScope(ctx, content, replaced.targets));
    await peers.sendTakeover(record);
    const { targets, level, from, until } = record;
    ctx.state.log.info({ id, targets, level, from, until }, 'a takeover was started');
    ctx.status = isNew ? 201 : 200;
    ctx.body = countDisplays(record, (await site.take()).screens);
  },
  'DELETE /console/api/takeovers/:id': async (ctx) => {
    const id = idOf(ctx.params.id);
    await peers.sendTakeover(await takeovers.end(id, ({ targets }) => checkScope(ctx, content, targets)));
    ctx.state.log.info({ id }, 'a takeover was ended');
    ctx.status = 204;
  },
});
