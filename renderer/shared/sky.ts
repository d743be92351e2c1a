const names = ['idle-sun', 'idle-far', 'idle-middle', 'idle-near'] as const;

/** The landscape of a page that has nothing else to show. It moves by its style sheet alone. */
export const createSky = (): HTMLElement => {
  const sky = document.createElement('div');
  sky.className = 'idle-sky';
  sky.ariaHidden = 'true';
  sky.append(
    ...names.map((name) => {
      const part = document.createElement('div');
      part.className = name;
      return part;
    }),
  );
  return sky;
};
