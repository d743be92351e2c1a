/** Headers of several operations. */

/** Response header: `true` where a known box did not answer, so that its part is missing. */
export const degradedHeader = 'x-signage-degraded';

/** Request header with the name of the person who makes a change; unproven. UTF-8, or ISO 8859-1 as browsers send it. */
export const operatorHeader = 'x-signage-operator';

/** Request header with the token of the box itself, which its users read from {@link localTokenFile}. */
export const localHeader = 'x-signage-local';

/** In the data directory, mode 0600; new at each start. */
export const localTokenFile = 'local-token';

/** The file in the data directory that holds the URL of the service that runs there, in one line. */
export const addressFile = 'address';

/** The URL in it; null: it is not whole. */
export const addressIn = (text: string): string | null => /^http:\/\/\S{1,300}(?=\n$)/.exec(text)?.[0] ?? null;
