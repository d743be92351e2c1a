/** Protecting a site: its secret, and its first admin. */
import { z } from 'zod';

/** Characters of a secret. */
export const maxSecret = 1_024;

export const protectRequest = z
  .object({
    secret: z
      .string()
      .min(1)
      .max(maxSecret)
      .regex(/^\P{Cc}*$/u, 'a secret without control characters')
      .optional()
      .describe('of the site, from the box that made it; absent: a new one is made'),
  })
  .meta({ id: 'ProtectRequest' });

export const protectedSite = z
  .object({
    secret: z.string().describe('of the site: shown this once'),
    config: z.string().describe('a config.json with it, for a stick'),
    boxes: z
      .array(
        z.object({
          nodeId: z.string().nullable().describe('null: not known yet'),
          url: z.string().describe('base URL'),
        }),
      )
      .describe('the other boxes of the site, which need it too'),
    restart_required: z.boolean().describe('true: it counts once somebody has restarted the player'),
  })
  .meta({ id: 'ProtectedSite' });
export type ProtectedSite = z.infer<typeof protectedSite>;
