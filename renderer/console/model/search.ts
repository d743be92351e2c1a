/** Whether one of the texts contains the query, ignoring case; pure. */
export const matches = (text: string, ...texts: readonly string[]): boolean => {
  const wanted = text.trim().toLowerCase();
  return wanted === '' || texts.some((each) => each.toLowerCase().includes(wanted));
};
