/** What people may do: each role may do all that the one before it may. */
export const roles = ['viewer', 'editor', 'publisher', 'admin'] as const;
export type Role = (typeof roles)[number];

export const isRole = (text: string): text is Role => (roles as readonly string[]).includes(text);

export const includesRole = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Operations that take the token of a page take the keys of these for one. */
export const countsAsPage = (role: Role): boolean => !includesRole(role, 'publisher');
