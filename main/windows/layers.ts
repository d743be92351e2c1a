/**
 * One window for each display, always visible, with stacked views inside. A window that is hidden or created again shows
 * black or the desktop briefly on every platform; views are swapped inside a window that stays open.
 */

import { BaseWindow, type WebContents, type WebContentsView } from 'electron';
import { createEmitter } from '../../service/domain/emitter.ts';
import { type Display, titleOf } from './displays.ts';

/** The background of windows and of the kiosk's own pages, before their first frame. */
export const OWN_BACKGROUND = '#17343a';

/**
 * From bottom to top. What `identify` shows is see-through, and covers nothing. A `hidden` view lies under the page: loaded and laid out at full size, but covered. It is silent, as
 * is what lies under the blackout.
 */
const order = ['hidden', 'page', 'external', 'blackout', 'identify', 'maintenance'] as const;

export type Layer = (typeof order)[number];

/** @param onCloseRequest called when the window is asked to close, for example by Alt+F4; it stays open */
export const openLayeredWindow = (display: Display, onCloseRequest: () => void) => {
  const window = new BaseWindow({
    ...display.bounds,
    kiosk: true,
    fullscreen: true,
    frame: false,
    autoHideMenuBar: true,
    // With one, a frameless window is transparent under Wayland, and its background is never seen.
    hasShadow: false,
    // Briefly visible after a page has crashed; the background of the kiosk's own pages.
    backgroundColor: OWN_BACKGROUND,
    title: titleOf(display),
  });
  const layers = new Map<WebContentsView, Layer>();
  const changes = createEmitter();

  const fill = (view: WebContentsView): void => {
    const { width, height } = window.getContentBounds();
    view.setBounds({ x: 0, y: 0, width, height });
  };

  const topOf = (layer: Layer): WebContentsView | undefined => [...layers].findLast(([, each]) => each === layer)?.[0];

  const cover = (): WebContentsView | null => topOf('maintenance') ?? topOf('blackout') ?? topOf('external') ?? null;

  /** `webContents` of a view is undefined once it is destroyed. */
  const contentsOf = (view: WebContentsView | undefined): WebContents | undefined => view?.webContents;

  /** Gives the keyboard to the maintenance page, else to the page; the window of another display keeps it. */
  const focusTop = (): void => {
    if (window.isFocused()) contentsOf(topOf('maintenance') ?? topOf('page'))?.focus();
  };

  const update = (): void => {
    const isBlack = topOf('blackout') !== undefined;
    for (const [view, layer] of layers) {
      contentsOf(view)?.setAudioMuted(layer === 'hidden' || (isBlack && layer !== 'maintenance'));
    }
    focusTop();
    changes.emit();
  };

  window.on('close', (event) => {
    event.preventDefault();
    onCloseRequest();
  });
  window.on('focus', focusTop);
  window.on('resize', () => {
    for (const view of layers.keys()) fill(view);
  });

  return {
    /**
     * Puts a view on top of its layer, at the size of the window; moves a view that is in the window already. The maintenance
     * page has the keyboard focus, else the page.
     */
    put: (view: WebContentsView, layer: Layer) => {
      if (window.isDestroyed()) return;
      layers.delete(view);
      const height = order.indexOf(layer);
      const below = [...layers.values()].filter((other) => order.indexOf(other) <= height).length;
      layers.set(view, layer);
      fill(view);
      // Moves a view that is a child already.
      window.contentView.addChildView(view, below);
      update();
    },
    remove: (view: WebContentsView) => {
      if (!layers.delete(view) || window.isDestroyed()) return;
      window.contentView.removeChildView(view);
      update();
    },
    /** The topmost view that lies over the page; null: the page is visible. */
    cover,
    /** Moves the window to the current position of its display. */
    move: (bounds: Display['bounds']) => {
      window.setBounds(bounds);
      for (const view of layers.keys()) fill(view);
    },
    /** Whether a view covers the page, so that it need not be painted. */
    isCovered: () => cover() !== null,
    /** The view that covers the page; external pages belong to the page. */
    shutBy: () => {
      if (topOf('maintenance') !== undefined) return 'maintenance';
      return topOf('blackout') === undefined ? null : 'closed';
    },
    /** Calls `listener` after each change of the views. */
    onChange: changes.on,
    focus: () => window.focus(),
    destroy: () => {
      if (!window.isDestroyed()) window.destroy();
    },
  };
};

export type LayeredWindow = ReturnType<typeof openLayeredWindow>;
