/** Request header with the name of the person who makes a change; unproven. UTF-8, or ISO 8859-1 as browsers send it. */
export const operatorHeader = 'x-signage-operator';
