/** An element of the page that is there by construction. */
export const element = <Type extends HTMLElement = HTMLElement>(id: string): Type => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Type;
};
