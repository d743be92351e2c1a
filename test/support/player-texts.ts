/** Texts in the place of those that the build makes. Tests share modules, and with them what these were given: one for all. */
export const languages = { en: { age: { asOf: 'As of {time}' }, calendar: { busy: 'Not to be told' } } };
