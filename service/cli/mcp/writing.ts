/** Tools that change what displays show: each says what would change, and asks the person. With `--allow-write`. */
import { randomBytes } from 'node:crypto';
import type { McpServer, RegisteredTool } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { commandNames } from '../../contract/command-names.ts';
import type { CommandResult } from '../../contract/commands.ts';
import type { SiteOverview } from '../../contract/console/site.ts';
import { mostTakeoverBody, mostTakeoverDays, mostTakeoverTitle } from '../../contract/console/takeover-levels.ts';
import { takeoverId } from '../../contract/console/takeovers.ts';
import { concernedScreens, type Shown } from '../../domain/affected-screens.ts';
import { redactedText } from '../../domain/redacted.ts';
import { isTargeted, unknownTargets } from '../../domain/targets.ts';
import type { Client } from '../client.ts';
import { compare } from '../document.ts';
import { takeoverTimes } from '../takeover-times.ts';
import { fetchSite, siteAhead } from '../targets.ts';
import { plural, visible } from '../text.ts';
import { answer, type Calls, ToolError } from './calls.ts';

/** Not those that lead a page away or rename it. */
const commands = commandNames('extended').filter((name) => name !== 'redirect' && name !== 'setclientname');
const targets = z
  .array(z.string().min(1).max(100))
  .min(1)
  .max(100)
  .describe('`all`, slugs of screens, or `tag:NAME` for the screens with a tag');
const writing = { readOnlyHint: false, destructiveHint: true, openWorldHint: false } as const;

/** How long a person may take to answer. */
const PATIENCE_MS = 300_000;
const MAX_PATCH = 20_000;

type SiteScreen = SiteOverview['screens'][number];

/** Of screens, those that are bound and those that are only connected. */
const displaysOf = (screens: readonly SiteScreen[]): number =>
  screens.reduce((sum, { devices, connections }) => {
    const ids = [...devices.map(({ deviceId }) => deviceId), ...connections.map(({ id, deviceId }) => deviceId ?? id)];
    return sum + new Set(ids).size;
  }, 0);

/** The screens of targets, and the number of their displays. @throws ToolError */
const reachOf = (site: SiteOverview, given: readonly string[]): { slugs: string[]; displays: number } => {
  const all = site.screens.map((each) => ({ slug: each.screen.slug, tags: each.tags, each }));
  const [unknown] = unknownTargets(given, all);
  if (unknown !== undefined) throw new ToolError(`There is no screen for the target ${unknown}.`);
  const hit = all.filter((screen) => isTargeted(given, screen));
  return { slugs: hit.map(({ slug }) => slug), displays: displaysOf(hit.map(({ each }) => each)) };
};

interface Change {
  /** What would change, in words of this program and of the assistant: ids and counts. */
  would: string;
  /** The same for the person, who may read what others have written; absent: the same. */
  question?: string;
  displays: number;
  /** Texts of others that it is about. */
  theirs?: unknown;
}

/** @returns the tools, which are offered once it is known that the client can ask the person */
export const registerWriting = (server: McpServer, box: Client, run: Calls): RegisteredTool[] => {
  /** Asks the person, and then does it. */
  const withConsent = async (
    { would: change, question = change, displays, theirs = {} }: Change,
    work: () => Promise<Record<string, unknown>>,
  ): Promise<CallToolResult> => {
    const would = { would: visible(change), displays };
    const message = `${visible(question)} This concerns ${plural(displays, 'display')}. Do it?`;
    const { action, content } = await server.server.elicitInput(
      // To accept is the consent; there is nothing to fill in.
      { message, requestedSchema: { type: 'object', properties: {} } },
      { timeout: PATIENCE_MS },
    );
    if (action !== 'accept' || content?.['confirm'] === false)
      return answer({ ...would, done: false, reason: 'The person declined.' }, theirs);
    return answer({ ...would, done: true, ...(await work()) }, theirs);
  };

  return [
    server.registerTool(
      'publish',
      {
        title: 'Publish a draft',
        description: 'Publishes a draft for all screens that it concerns, after the person has agreed.',
        inputSchema: { draft_id: z.string().regex(/^[a-z0-9-]{1,64}$/) },
        annotations: writing,
      },
      run(async ({ draft_id }) => {
        const path = `/console/api/drafts/${draft_id}`;
        const draft = await box.ask<{ title: string; content: Shown }>({ path });
        const { body: playing } = await box.ask<{ content: Shown }>({ path: '/console/api/content' });
        // Only what is valid can be compared, and published.
        const check = await box.ask<{ ok: boolean; errors: unknown[] }>({
          method: 'POST',
          path: '/console/api/content/check',
          body: JSON.stringify(draft.body.content),
        });
        if (!check.body.ok) {
          const faults = plural(check.body.errors.length, 'error');
          throw new ToolError(`The draft ${draft_id} has ${faults}, so it cannot be published.`);
        }
        const concerned = new Set(concernedScreens(playing.content, draft.body.content).map(({ slug }) => slug));
        const { screens } = (await fetchSite(box)).body;
        const displays = displaysOf(screens.filter(({ screen }) => concerned.has(screen.slug)));
        const { added, removed, patch } = await compare(
          { name: 'plays', value: playing.content },
          { name: 'draft', value: draft.body.content },
        );
        const lines = `${plural(added, 'line')} added, ${plural(removed, 'line')} removed`;
        const say = (title = ''): string =>
          `Publish the draft ${draft_id}${title} for ${plural(concerned.size, 'screen')}: ${lines}.`;
        const question = say(` (${JSON.stringify(draft.body.title)})`);
        const theirs = { title: draft.body.title, patch: patch.slice(0, MAX_PATCH).split('\n') };
        return withConsent({ would: say(), question, displays, theirs }, async () => {
          const headers = { 'If-Match': String(draft.headers.etag ?? '*') };
          const { body } = await box.ask<{ sha256: string }>({ method: 'POST', path: `${path}/publish`, headers });
          return { sha256: body.sha256 };
        });
      }),
    ),
    server.registerTool(
      'send',
      {
        title: 'Send a command',
        description: 'Sends a command to the pages of screens, after the person has agreed.',
        inputSchema: {
          targets,
          command: z.enum(commands as [string, ...string[]]),
          blackout: z.boolean().optional().describe('of blackout: on or off'),
        },
        annotations: writing,
      },
      run(async ({ targets: given, command, blackout }) => {
        const { slugs, displays } = reachOf((await fetchSite(box)).body, given);
        const value = blackout === undefined ? '' : blackout ? ' on' : ' off';
        return withConsent({ would: `Send ${command}${value} to ${given.join(', ')}.`, displays }, async () => {
          let sent = 0;
          let degraded = false;
          const failed: { slug: string; error: unknown }[] = [];
          for (const slug of slugs) {
            const path = `/api/screens/${slug}/commands`;
            const body = JSON.stringify({ command, ...(blackout !== undefined && { blackout }) });
            try {
              const { body: result } = await box.ask<CommandResult>({ method: 'POST', path, body });
              sent += result.sent;
              degraded ||= result.degraded;
            } catch (error) {
              failed.push({ slug, error });
            }
          }
          if (failed[0] !== undefined && failed.length === slugs.length) throw failed[0].error;
          return { sent, degraded, ...(failed.length > 0 && { not_sent: failed.map(({ slug }) => slug) }) };
        });
      }),
    ),
    server.registerTool(
      'takeover_start',
      {
        title: 'Show a message',
        description:
          'Shows a message instead of what plays, for a time, after the person has agreed. Never an emergency.',
        inputSchema: {
          targets,
          title: z.string().min(1).max(mostTakeoverTitle),
          body: z.string().max(mostTakeoverBody).optional(),
          level: z.enum(['info', 'warning']).default('info'),
          minutes: z
            .number()
            .positive()
            .max(mostTakeoverDays * 24 * 60),
        },
        annotations: writing,
      },
      run(async ({ targets: given, title, body, level, minutes }) => {
        const { body: site } = await fetchSite(box);
        const { displays } = reachOf(site, given);
        const ahead = siteAhead(box, site);
        const words = [title, body].filter((text) => text !== undefined).map((text) => JSON.stringify(text));
        const would = `Show ${words.join(', ')} on ${given.join(', ')} for ${minutes} min (${level}).`;
        return withConsent({ would, displays, theirs: { title, body } }, async () => {
          const path = `/console/api/takeovers/mcp-${randomBytes(6).toString('hex')}`;
          const times = takeoverTimes(box.now() + ahead, minutes * 60_000);
          const request = { targets: given, level, title, body, ...times };
          const started = await box.ask<{ id: string; until: string }>({
            method: 'PUT',
            path,
            body: JSON.stringify(request),
          });
          return { id: started.body.id, until: started.body.until };
        });
      }),
    ),
    server.registerTool(
      'takeover_end',
      {
        title: 'End a message',
        description: 'Ends a takeover, after the person has agreed. Emergencies are ended by people alone.',
        inputSchema: { id: takeoverId },
        annotations: writing,
      },
      run(async ({ id }) => {
        const site = (await fetchSite(box)).body;
        const found = site.takeovers.find((each) => each.id === id);
        if (found === undefined) throw new ToolError(`There is no takeover ${id}.`);
        if (found.level === 'emergency') throw new ToolError('An emergency is ended by people alone.');
        const { title, media_url, expected } = found;
        const would = `End the takeover ${id}.`;
        const question = `End the takeover ${id} (${JSON.stringify(title ?? redactedText(media_url ?? ''))}).`;
        return withConsent({ would, question, displays: expected, theirs: { title, media_url } }, async () => {
          await box.ask({ method: 'DELETE', path: `/console/api/takeovers/${id}` });
          return {};
        });
      }),
    ),
  ];
};
