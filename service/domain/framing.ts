/**
 * Decides what of the service may be framed, for the response headers, the pages and the kiosk. A framed page would run
 * with the display's storage, so pages are never framed, but for the console's preview, which uses no storage. Media run no code,
 * so the service's own pages may frame them.
 */

interface FramingHeaders {
  /** Directive of the Content-Security-Policy header. */
  directive: string;
  'X-Frame-Options': string;
}

export const unframed: FramingHeaders = { directive: "frame-ancestors 'none'", 'X-Frame-Options': 'DENY' };
export const framedByOwnPages: FramingHeaders = {
  directive: "frame-ancestors 'self'",
  'X-Frame-Options': 'SAMEORIGIN',
};

/** Whether a path of the service may be shown in a frame of its own pages. */
export const mayBeFramed = (path: string): boolean => /^\/media\//.test(path);
