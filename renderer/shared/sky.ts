const names = ['idle-sun', 'idle-far', 'idle-middle', 'idle-near'] as const;

/** The landscape of a page without content. Animated by its style sheet. */
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
