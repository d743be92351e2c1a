/**
 * What of the service may be shown in frames: the one place where this is decided, for the answers' headers, the pages
 * and the kiosk. Whoever frames a page of the service runs it with the display's own storage, so no page is ever framed.
 * Media may be, by the service's own pages: they run nothing.
 */

interface FramingHeaders {
  /** The directive of the answer's content security policy. */
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
