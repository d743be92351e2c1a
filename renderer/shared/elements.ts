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

/** A new element. @param name its class; empty: none; @param content null: nothing */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  name: string,
  ...content: (string | Node | null)[]
): HTMLElementTagNameMap[Tag] => {
  const made = document.createElement(tag);
  if (name !== '') made.className = name;
  made.append(...content.filter((each) => each !== null));
  return made;
};

const skyParts = ['idle-sun', 'idle-far', 'idle-middle', 'idle-near'] as const;

/** The landscape of a page without content. Animated by its style sheet. */
export const createSky = (): HTMLElement => {
  const sky = make('div', 'idle-sky', ...skyParts.map((name) => make('div', name)));
  sky.ariaHidden = 'true';
  return sky;
};
