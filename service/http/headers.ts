/** The security headers of every response. */
import { unframed } from '../domain/framing.ts';

/** Pages run only scripts of this service; images, media, fonts, data and frames may come from any origin. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src * data: blob:',
  'media-src * data: blob:',
  'font-src * data:',
  'connect-src * blob:',
  'frame-src http: https:',
  "worker-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  unframed.directive,
].join('; ');

export const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Frame-Options': unframed['X-Frame-Options'],
  // A framed page from another port of this host gets its own thread, so a busy one cannot block ours (HTML, 7.1.1).
  'Origin-Agent-Cluster': '?1',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), display-capture=()',
} as const;
