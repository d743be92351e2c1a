import type { WebContents } from 'electron';
import type { Rotation } from './displays.ts';

/** The whole page turned about its middle, with width and height changed over where it lies on its side. */
const turned = (rotation: Rotation): string => {
  const [width, height] = rotation % 180 === 0 ? ['100vw', '100vh'] : ['100vh', '100vw'];
  return `:root {
    position: fixed !important; top: 50% !important; left: 50% !important;
    width: ${width} !important; height: ${height} !important;
    transform: translate(-50%, -50%) rotate(${rotation}deg) !important;
  }`;
};

/**
 * Turns whatever a window shows.
 * @returns turns it otherwise from now on
 */
export const turnContents = (contents: WebContents, given: Rotation): ((rotation: Rotation) => void) => {
  let rotation = given;
  /** Of what was put into the page that is there; null: nothing was. */
  let key: Promise<string> | null = null;

  const turn = async (): Promise<void> => {
    const before = key;
    key = contents.insertCSS(turned(rotation));
    await key;
    const old = await before;
    if (old !== null) await contents.removeInsertedCSS(old);
  };
  // Of a page that is gone there is nothing to turn.
  const begin = (): void => void turn().catch(() => {});

  contents.on('dom-ready', () => {
    key = null;
    if (rotation !== 0) begin();
  });
  return (next) => {
    if (next === rotation) return;
    rotation = next;
    begin();
  };
};
