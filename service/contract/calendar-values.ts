/** Values of calendars that pages need without the schemas. */

/** The title of a private event where it is not shown. */
export const busy = 'Busy';
