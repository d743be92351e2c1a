/** Headers of answers that several operations have. */
import { z } from 'zod';

export const entityTag = {
  ETag: { description: 'Entity tag (RFC 9110, 8.8.3)', schema: z.string().regex(/^(?:W\/)?"[^"]*"$/), required: true },
} as const;

export const unchanged = {
  304: { description: 'The representation is the one that If-None-Match names.', headers: entityTag },
} as const;

const bytes = { '*/*': { schema: z.string().meta({ format: 'binary' }) } } as const;

/** A file that is served with ranges and validators, as RFC 9110 describes them. */
export const medium = (description: string) =>
  ({
    200: {
      description,
      headers: {
        ...entityTag,
        'Accept-Ranges': { description: 'bytes', schema: z.literal('bytes') },
        'Repr-Digest': { description: 'SHA-256 of the whole file (RFC 9530), where it is known', schema: z.string() },
      },
      content: bytes,
    },
    206: {
      description: 'The requested range, or several as multipart/byteranges.',
      headers: { ...entityTag, 'Content-Range': { description: 'The range (RFC 9110, 14.4)', schema: z.string() } },
      content: bytes,
    },
    ...unchanged,
  }) as const;

/** A file that is served whole. */
export const file = (description: string, type = '*/*') =>
  ({ 200: { description, content: { [type]: { schema: z.string().meta({ format: 'binary' }) } } } }) as const;
