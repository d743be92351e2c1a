/** An element of the page that is there by construction. */
export const element = <Type extends HTMLElement = HTMLElement>(id: string): Type => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Type;
};

/** Acts on an event of an element, in place of what the browser does by itself. */
export const on = (id: string, event: string, act: () => void): void =>
  element(id).addEventListener(event, (happening) => {
    happening.preventDefault();
    act();
  });
