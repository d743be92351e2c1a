import type { WebContents } from 'electron';
import type { Rotation } from './displays.ts';

/** Rotates the whole page about its center; at 90 and 270 degrees width and height are swapped. */
const rotationCss = (rotation: Rotation): string => {
  const [width, height] = rotation % 180 === 0 ? ['100vw', '100vh'] : ['100vh', '100vw'];
  return `:root {
    position: fixed !important; top: 50% !important; left: 50% !important;
    width: ${width} !important; height: ${height} !important;
    transform: translate(-50%, -50%) rotate(${rotation}deg) !important;
  }`;
};

/**
 * Rotates all pages that the web contents load.
 * @returns changes the rotation
 */
export const rotateContents = (contents: WebContents, initial: Rotation): ((rotation: Rotation) => void) => {
  let rotation = initial;
  /** The key of the style sheet inserted into the current page; null: none. */
  let key: Promise<string> | null = null;

  const insert = async (): Promise<void> => {
    const before = key;
    key = contents.insertCSS(rotationCss(rotation));
    await key;
    const old = await before;
    if (old !== null) await contents.removeInsertedCSS(old);
  };
  // Fails if the page was closed in the meantime.
  const apply = (): void => void insert().catch(() => {});

  contents.on('dom-ready', () => {
    key = null;
    if (rotation !== 0) apply();
  });
  return (next) => {
    if (next === rotation) return;
    rotation = next;
    apply();
  };
};
