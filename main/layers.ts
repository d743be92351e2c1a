/**
 * One window for each display, always visible, with views stacked inside. A window that is hidden, or made anew, shows
 * black or the desktop for a moment on every platform; views are exchanged inside one that stays.
 */
import { BaseWindow, type View, type WebContents, WebContentsView } from 'electron';
import { type Display, titleOf } from './displays.ts';

/** From the bottom to the top. `hidden` lies under the page: loaded and laid out at full size, but covered. */
const order = ['hidden', 'page', 'external', 'blackout', 'maintenance'] as const;

export type Layer = (typeof order)[number];

export interface LayeredWindow {
  /**
   * Puts a view on top of its layer, at the size of the window; moves one that is there already. The keyboard belongs to
   * the maintenance page, else to the page.
   */
  put(view: View, layer: Layer): void;
  remove(view: View): void;
  /** Moves the window to where its display is now. */
  move(bounds: Display['bounds']): void;
  focus(): void;
  destroy(): void;
}

/** @param onCloseRequest somebody asked the window to close, as Alt+F4 does; it stays open */
export const openLayeredWindow = (display: Display, onCloseRequest: () => void): LayeredWindow => {
  const window = new BaseWindow({
    ...display.bounds,
    kiosk: true,
    fullscreen: true,
    frame: false,
    autoHideMenuBar: true,
    backgroundColor: '#000000',
    title: titleOf(display),
  });
  const layers = new Map<View, Layer>();

  const fill = (view: View): void => {
    const { width, height } = window.getContentBounds();
    view.setBounds({ x: 0, y: 0, width, height });
  };

  const giveKeyboard = (): void => {
    const topOf = (layer: Layer): View | undefined => [...layers].findLast(([, each]) => each === layer)?.[0];
    const top = topOf('maintenance') ?? topOf('page');
    // The web contents of a view are undefined once they are destroyed.
    if (top instanceof WebContentsView) (top.webContents as WebContents | undefined)?.focus();
  };

  window.on('close', (event) => {
    event.preventDefault();
    onCloseRequest();
  });
  window.on('resize', () => {
    for (const view of layers.keys()) fill(view);
  });

  return {
    put: (view, layer) => {
      if (window.isDestroyed()) return;
      layers.delete(view);
      const height = order.indexOf(layer);
      const below = [...layers.values()].filter((other) => order.indexOf(other) <= height).length;
      layers.set(view, layer);
      fill(view);
      // A view that is a child already is moved.
      window.contentView.addChildView(view, below);
      giveKeyboard();
    },
    remove: (view) => {
      if (!layers.delete(view) || window.isDestroyed()) return;
      window.contentView.removeChildView(view);
      giveKeyboard();
    },
    move: (bounds) => {
      window.setBounds(bounds);
      for (const view of layers.keys()) fill(view);
    },
    focus: () => {
      window.focus();
      giveKeyboard();
    },
    destroy: () => {
      if (!window.isDestroyed()) window.destroy();
    },
  };
};
