/** Response header: `true` where a known box did not answer, so that its part is missing. */
export const degradedHeader = 'x-signage-degraded';
