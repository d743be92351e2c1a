/** Names of the interface of backups; apart from its schemas, which the command line loads only for an answer. */
export const tarType = 'application/x-tar';

/** Header of a restore: says that it is meant. */
export const confirmHeader = 'x-signage-confirm';
