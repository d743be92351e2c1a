/** A configuration profile, with which iOS and macOS install a root certificate (Apple, Configuration Profile Reference). */
import type { X509Certificate } from 'node:crypto';

const escaped = (text: string): string =>
  text.replaceAll(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll(/\p{Cc}/gu, ' ');

/** A UUID of 32 hex digits, so that a second installation replaces the first. */
const uuidOf = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5').toUpperCase();

/** Pure. */
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
