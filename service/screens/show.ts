/** Has every page of a screen go to a slide: `POST /console/api/screens/{slug}/show`. */
import type { Content } from '../content/index.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { peerShow, type ShowResult, showRequest } from '../contract/show.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import { checkScope } from '../http/scope.ts';
import type { Peers } from '../peers/index.ts';
import type { Hub } from './hub.ts';

interface Dependencies {
  content: Pick<Content, 'payload' | 'slide' | 'screens' | 'tags'>;
  hub: Pick<Hub, 'snapshot' | 'send'>;
  peers: Pick<Peers, 'broadcast'>;
}

export const showRoutes = ({ content, hub, peers }: Dependencies): Routes => {
  const deliver = (slug: string, slideId: string): number =>
    hub.send(
      hub.snapshot(slug).map(({ id }) => id),
      { type: 'show', slideId },
    );

  return {
    'POST /console/api/screens/:slug/show': async (ctx) => {
      const { slug } = ctx.params;
      // The tags of a person may be others once the body is there.
      checkScope(ctx, content, [slug]);
      const body = await readJson(ctx);
      checkScope(ctx, content, [slug]);
      const { slide_id: slideId } = readFields(showRequest, body);
      if (content.payload(slug) === undefined) throw new CodedError('screen_not_found');
      if (content.slide(slug, slideId) === undefined) {
        throw new CodedError('slide_not_found', undefined, { field: 'slide_id' });
      }
      // To all at once, so that synchronized pages go there together.
      const relaying = peers.broadcast('screens.show', { slug, slideId });
      const here = deliver(slug, slideId);
      const { answers, degraded } = await relaying;
      const sent = answers.reduce((sum, answer) => sum + answer.sent, here);
      ctx.state.log.info({ slug, slideId, sent }, 'a slide is shown now');
      ctx.body = { sent, degraded } satisfies ShowResult;
    },
    'POST /api/peers/show': async (ctx) => {
      const { slug, slideId } = readFields(peerShow, await readJson(ctx));
      ctx.body = { sent: deliver(slug, slideId) };
    },
  };
};
