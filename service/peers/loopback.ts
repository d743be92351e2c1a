/** Whether a host, as a URL has it, or an address to listen on, is one that only this machine gets to. */
export const isLoopback = (host: string): boolean => /^(127\.|localhost$|\[?::1\]?$)/.test(host);
