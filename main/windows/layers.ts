/**
 * One window for each display, always visible, with stacked views inside. A window that is hidden or created again shows
 * black or the desktop briefly on every platform; views are swapped inside a window that stays open.
 */
import { BaseWindow, type WebContents, WebContentsView, type WebPreferences } from 'electron';
import { createEmitter } from '../../service/domain/emitter.ts';
import type { ViewArea } from '../../service/public.ts';
import { type Display, titleOf } from './displays.ts';
import { lockedPreferences } from './web-pages.ts';

/** The background of windows and of the kiosk's own pages, before their first frame. */
export const OWN_BACKGROUND = '#17343a';

/**
 * From bottom to top. What `identify` shows is see-through, and covers nothing. A `hidden` view lies under the page: loaded and laid out at full size, but covered. It is silent, as
 * are what lies under the blackout and a page in which somebody signs in.
 */
const order = ['hidden', 'page', 'external', 'blackout', 'identify', 'maintenance', 'sign-in'] as const;

export type Layer = (typeof order)[number];

/** The web contents of a view; undefined once they are destroyed. */
export const contentsOf = (view: WebContentsView | null | undefined): WebContents | undefined => view?.webContents;

export const openView = (preferences: Pick<WebPreferences, 'partition' | 'preload'>, color: string) => {
  const view = new WebContentsView({ webPreferences: { ...lockedPreferences, ...preferences } });
  view.setBackgroundColor(color);
  return view;
};

/** The whole window. */
export const WHOLE: ViewArea = { x: 0, y: 0, width: 1, height: 1 };
const isWhole = ({ width, height }: ViewArea): boolean => Math.min(width, height) > 0.999;

interface Place {
  layer: Layer;
  area: ViewArea;
}

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
  const layers = new Map<WebContentsView, Place>();
  const changes = createEmitter();

  const fill = (view: WebContentsView, { area }: Place): void => {
    const { width, height } = window.getContentBounds();
    const [left, top] = [Math.round(area.x * width), Math.round(area.y * height)];
    const [right, bottom] = [Math.round((area.x + area.width) * width), Math.round((area.y + area.height) * height)];
    view.setBounds({ x: left, y: top, width: right - left, height: bottom - top });
  };

  const topOf = (layer: Layer): WebContentsView | undefined =>
    [...layers].findLast(([, each]) => each.layer === layer)?.[0];

  const over = (): WebContentsView | null => topOf('maintenance') ?? topOf('blackout') ?? topOf('external') ?? null;

  /** Beside a page of others in its main zone, the page shows its other zones. */
  const isCovered = (): boolean => {
    const view = over();
    // While somebody signs in, it leaves room for the page in which they do.
    return topOf('maintenance') !== undefined || (view !== null && isWhole(layers.get(view)?.area ?? WHOLE));
  };

  /**
   * Gives the keyboard to the maintenance page, else to the page, even one that is still loading: the key combination of the
   * maintenance page must work after a crash. The window of another display keeps it.
   */
  const focusTop = (): void => {
    if (window.isDestroyed() || !window.isFocused()) return;
    contentsOf(topOf('sign-in') ?? topOf('maintenance') ?? topOf('page') ?? topOf('hidden'))?.focus();
  };

  const update = (): void => {
    const isBlack = topOf('blackout') !== undefined;
    for (const [view, { layer }] of layers) {
      contentsOf(view)?.setAudioMuted(
        layer === 'hidden' || layer === 'sign-in' || (isBlack && layer !== 'maintenance'),
      );
    }
    focusTop();
    changes.emit();
  };

  const remove = (view: WebContentsView): void => {
    if (!layers.delete(view) || window.isDestroyed()) return;
    window.contentView.removeChildView(view);
    update();
  };

  window.on('close', (event) => {
    event.preventDefault();
    onCloseRequest();
  });
  window.on('focus', focusTop);
  window.on('resize', () => {
    for (const [view, place] of layers) fill(view, place);
  });

  return {
    /**
     * Puts a view on top of its layer, over the whole window or an area of it; moves a view that is in the window already. The
     * maintenance page has the keyboard focus, else the page.
     */
    put: (view: WebContentsView, layer: Layer, area = WHOLE) => {
      if (window.isDestroyed()) return;
      // Before its first document it cannot be focused.
      if (!layers.delete(view)) contentsOf(view)?.once('did-navigate', focusTop);
      const height = order.indexOf(layer);
      const below = [...layers.values()].filter((other) => order.indexOf(other.layer) <= height).length;
      const place = { layer, area };
      layers.set(view, place);
      fill(view, place);
      // Moves a view that is a child already.
      window.contentView.addChildView(view, below);
      update();
    },
    remove,
    /** Removes a view, and ends its page, which would outlive it. */
    close: (view: WebContentsView) => {
      remove(view);
      const contents = contentsOf(view);
      if (contents?.isDestroyed() === false) contents.close();
    },
    /** The topmost view that lies over the page, or over its main zone; null: none does. */
    over,
    /** Moves the window to the current position of its display. */
    move: (bounds: Display['bounds']) => {
      window.setBounds(bounds);
      for (const [view, place] of layers) fill(view, place);
    },
    /** Whether a view covers the page, so that it need not be painted. */
    isCovered,
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
