/** Texts in the place of those that the build makes. */
export const languages = { en: { age: { asOf: 'As of {time}' }, calendar: { busy: 'Not to be told' } } };
