/** The security headers of every response, and how a proven one may be stored. */
import { framedByOwnPages, unframed } from '../domain/framing.ts';

/** Pages run only scripts of this service; images, media, fonts, data and frames may come from any origin. */
const pagePolicy = [
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
].join('; ');

/** The console runs only what this service serves, and talks only to it. */
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  unframed.directive,
].join('; ');

/** The policy of pages, with everything from this service alone. */
const ownPolicy = pagePolicy.replaceAll('*', "'self'").replace('frame-src http: https:', "frame-src 'self'");

/**
 * Headers of the preview, in place of those of other pages: the player's policy, in a frame of the console.
 * @param loadsElsewhere false: nothing that the content names on other hosts is loaded, so that nobody there learns of it
 */
export const previewHeaders = (loadsElsewhere: boolean) => ({
  'Content-Security-Policy': `${loadsElsewhere ? pagePolicy : ownPolicy}; ${framedByOwnPages.directive}`,
  'X-Frame-Options': framedByOwnPages['X-Frame-Options'],
});

/** Headers of the console, in place of those of other pages. */
export const consoleHeaders = { 'Content-Security-Policy': consolePolicy };

/** Headers of the API documents: their viewer writes styles into its elements, and loads nothing. */
export const docsHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    unframed.directive,
  ].join('; '),
};

export const securityHeaders = {
  'Content-Security-Policy': `${pagePolicy}; ${unframed.directive}`,
  'X-Frame-Options': unframed['X-Frame-Options'],
  // A framed page from another port of this host gets its own thread, so a busy one cannot block ours (HTML, 7.1.1).
  'Origin-Agent-Cluster': '?1',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), display-capture=()',
} as const;

/** The Cache-Control of a proven answer: a proxy that compresses it would take its proof. @param given empty: none */
export const untransformed = (given: string): string => (given === '' ? 'no-transform' : `${given}, no-transform`);
