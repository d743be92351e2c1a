/** The record of an HTTP operation or a WebSocket: the router, the access policy and the API documents derive from it. */
import { z } from 'zod';
import type { AuditSubject } from '../console/site.ts';
import type { ErrorCode } from '../errors.ts';
import { sealedType } from '../peers.ts';
import type { Role } from '../roles.ts';
import type { Variant } from '../terms.ts';

/**
 * Who may call an operation.
 * - `public`: anyone.
 * - `signed`: a signed request alone.
 * - `signed or page`: a signed request, or the token of a page.
 * - `page`: the token of a page.
 *
 * With no shared secret all of them are open.
 */
export type Access = 'public' | 'signed' | 'signed or page' | 'page';

/** How a change is written into the audit. */
export interface AuditRule {
  /** What is done, such as `content.publish`. */
  action: string;
  /** What it is done to. */
  subject: AuditSubject;
  /** The parameter of the path, or field of the body, that names it; absent: there is only one. */
  id?: string;
  /** The fields of the body that are recorded where the subject has no state of its own; absent: none are. */
  fields?: readonly string[];
}

/**
 * What it means for an operation that a person has tags.
 * - `judged`: its handler compares them with the screens that are concerned.
 * - `refused`: it concerns the whole site, so a person with tags may not call it.
 */
export type Scope = 'judged' | 'refused';

/** The part of an operation that the router and the access policy use. */
export interface Rule {
  /** Default: `signed`. */
  access?: Access;
  /** The lowest role of a person who may call it; absent where everybody may, and under `/api/peers`, where only boxes do. */
  role?: Role;
  /** Absent: it changes nothing on screens. */
  scope?: Scope;
  /** It is taken with the secret even where people are required: it tells who signs, or boxes find each other by it. */
  forSecret?: true;
  /** `baseline`: both variants of the interface have the operation; absent: only the extended one. */
  variant?: 'baseline';
  /** A GET with side effects: refused to other origins, like every other method. */
  acts?: true;
  /** Absent: the operation changes nothing that people need to know of. */
  audit?: AuditRule;
}

/** A rule without defaults. */
export interface FullRule {
  access: Access;
  /** `secret`: only who signs with the secret; null: everybody. */
  role: Role | 'secret' | null;
  scope: Scope | null;
  forSecret: boolean;
  /** Whether only the extended variant has it. */
  isExtended: boolean;
  /** Whether it is there only where the console is on. */
  isConsole: boolean;
  acts: boolean;
  hasBody: boolean;
  audit?: AuditRule;
}

const roleOf = (name: string, access: Access, role: Role | undefined): FullRule['role'] => {
  if (access === 'public') return null;
  if (role !== undefined) return role;
  if (/^(?:[A-Z]+ )?\/api\/peers\//.test(name)) return 'secret';
  throw new Error(`${name} needs a role`);
};

/**
 * @param name the key of the operation, or the path of the socket
 * @throws Error if it names no role, and is neither public nor between boxes
 */
export const ruleOf = (
  name: string,
  { access = 'signed', role, scope, forSecret, variant, acts, audit, body }: Rule & Pick<Operation, 'body'>,
): FullRule => ({
  access,
  role: roleOf(name, access, role),
  scope: scope ?? null,
  forSecret: forSecret === true,
  isExtended: variant !== 'baseline',
  isConsole: /\/console(\/|$)/.test(name),
  acts: acts === true,
  hasBody: body !== undefined,
  ...(audit && { audit }),
});

/** A body of one media type. */
export interface Content {
  schema: z.ZodType;
  /** Absent for bytes. */
  example?: unknown;
  /** The only variant that answers with this media type; absent: both. */
  variant?: Variant;
}

export interface Header {
  description: string;
  schema: z.ZodType;
  /** Whether every such response has it; default: false. */
  required?: boolean;
}

export interface Answer {
  description: string;
  headers?: Readonly<Record<string, Header>>;
  /** By media type; absent: no body. */
  content?: Readonly<Record<string, Content>>;
}

/** One HTTP operation. Its key is the method and the path, with parameters in router syntax: `GET /screen/:slug`. */
export interface Operation extends Rule {
  summary: string;
  /** Sentences that add to the summary. */
  description?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Request headers beyond those of HTTP and of the access class. */
  headers?: z.ZodObject;
  body?: Readonly<Record<string, Content>>;
  answer: Readonly<Record<number, Answer>>;
  /** Errors of its own, beyond those that follow from its access class, parameters, query and body. */
  errors?: readonly ErrorCode[];
  /** Values of parameters and query for which the first answer's example could be the answer. */
  examples?: Readonly<Record<string, string>>;
}

export type Operations = Readonly<Record<string, Operation>>;

/** One WebSocket. Its key is the path of the upgrade request. */
export interface SocketOperation extends Rule {
  summary: string;
  description: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  receives: readonly Message[];
  sends: readonly Message[];
  /** Why an upgrade is refused, beyond what follows from the access class. */
  errors?: readonly ErrorCode[];
}

export interface Message {
  schema: z.ZodType;
  example: unknown;
}

export const json = (schema: z.ZodType, example: unknown) => ({ 'application/json': { schema, example } }) as const;

/** An answer of 200 with JSON. */
export const ok = (description: string, schema: z.ZodType, example: unknown) =>
  ({ 200: { description, content: json(schema, example) } }) as const;

const sealed = z
  .string()
  .regex(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
  .meta({ id: 'SealedBody', description: 'the JSON as a compact JWE (`dir`, A256GCM), between boxes with a secret' });

/** JSON that boxes with a secret send each other encrypted. */
export const sealable = (schema: z.ZodType, example: unknown) =>
  ({ ...json(schema, example), [sealedType]: { schema: sealed, variant: 'extended' } }) as const;

/** An answer of 200 with JSON, encrypted for another box with a secret. */
export const okSealable = (description: string, schema: z.ZodType, example: unknown) =>
  ({ 200: { description, content: sealable(schema, example) } }) as const;

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
