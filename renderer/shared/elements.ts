/** An element that the page always has. */
export const element = <Type extends HTMLElement = HTMLElement>(id: string): Type => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Type;
};

/** Handles an event of an element instead of the browser. */
export const on = (id: string, event: string, act: () => void): void =>
  element(id).addEventListener(event, (happening) => {
    happening.preventDefault();
    act();
  });
