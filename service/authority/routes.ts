/** What people install of the authority of the site, and what operators see and do. */
import type { X509Certificate } from 'node:crypto';
import type { SiteRoot } from '../contract/authority.ts';
import { CodedError } from '../contract/errors.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { Authority } from './records.ts';

interface Dependencies {
  /** The root that people are to install; null: none. */
  shown(): Authority | null;
  /** Replaces the root. */
  renew(): Promise<Authority>;
  /** How many roots were replaced. */
  replaced(): number;
  site: string;
}

const escaped = (text: string): string =>
  text.replaceAll(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll(/\p{Cc}/gu, ' ');

/** A UUID of 32 hex digits, so that a second installation replaces the first. */
const uuidOf = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5').toUpperCase();

/** A configuration profile, with which iOS and macOS install a root certificate (Apple, Configuration Profile Reference). Pure. */
export const profileOf = ({ raw, fingerprint256 }: X509Certificate, site: string): string => {
  const digits = fingerprint256.replaceAll(':', '').toLowerCase();
  const entries = (values: Readonly<Record<string, string>>): string =>
    Object.entries(values)
      .map(([key, value]) => `<key>${key}</key>${value}`)
      .join('\n');
  const text = (value: string): string => `<string>${escaped(value)}</string>`;
  const name = `Signage ${site}`;
  const common = { PayloadVersion: '<integer>1</integer>', PayloadDisplayName: text(name) };
  const certificate = entries({
    ...common,
    PayloadType: text('com.apple.security.root'),
    PayloadIdentifier: text(`org.signage-player.root.${digits.slice(0, 16)}.certificate`),
    PayloadUUID: text(uuidOf(digits.slice(0, 32))),
    PayloadContent: `<data>${raw.toString('base64')}</data>`,
  });
  const profile = entries({
    ...common,
    PayloadType: text('Configuration'),
    PayloadIdentifier: text(`org.signage-player.root.${digits.slice(0, 16)}`),
    PayloadUUID: text(uuidOf(digits.slice(32))),
    PayloadContent: `<array><dict>\n${certificate}\n</dict></array>`,
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
${profile}
</dict></plist>
`;
};

const isoOf = (date: string): string => new Date(date).toISOString();

const send = (ctx: Context, type: string, body: string | Buffer, name: string): void => {
  ctx.set({ 'Cache-Control': 'no-store', 'Content-Disposition': `inline; filename="${name}"` });
  ctx.type = type;
  ctx.body = body;
};

export const authorityRoutes = ({ shown, renew, replaced, site }: Dependencies): Routes => {
  const needed = (): Authority => {
    const found = shown();
    if (found === null) throw new CodedError('trust_unavailable');
    return found;
  };
  const answer = (ctx: Context, { root, rootPem }: Authority): void => {
    const { fingerprint256: fingerprint, validFrom, validTo } = root;
    const body: SiteRoot = {
      fingerprint,
      not_before: isoOf(validFrom),
      not_after: isoOf(validTo),
      root: rootPem,
      replaced: replaced(),
    };
    ctx.body = body;
  };

  return {
    'GET /trust/root.crt': (ctx) => send(ctx, 'application/x-x509-ca-cert', needed().root.raw, 'signage-root.crt'),
    'GET /trust/root.mobileconfig': (ctx) =>
      send(ctx, 'application/x-apple-aspen-config', profileOf(needed().root, site), 'signage-root.mobileconfig'),
    'GET /console/api/ca': (ctx) => answer(ctx, needed()),
    'POST /console/api/ca/renew': async (ctx) => answer(ctx, await renew()),
  };
};
