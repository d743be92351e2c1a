import names from 'color-name';

const HEX = /^#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i;
const FUNCTION = /^(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark)\(.+\)$/is;

/** Whether a value looks like a CSS colour (CSS Color 4); the arguments of functions are not checked. */
export const isColour = (value: unknown): boolean => {
  if (typeof value !== 'string') return false;
  const text = value.trim().toLowerCase();
  return (
    HEX.test(text) || FUNCTION.test(text) || Object.hasOwn(names, text) || /^(?:transparent|currentcolor)$/.test(text)
  );
};
