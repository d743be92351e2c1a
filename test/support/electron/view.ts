/** Windows and the views stacked in them: what is laid out, painted and in front. */
import { EventEmitter } from 'node:events';
import { blurContents, type ContentsOptions, WebContents } from './contents.ts';
import { createEvent } from './emitter.ts';
import { hasRealWindows, type Layer, openRealWindow, type RealWindow } from './real-window.ts';
import { theWorld } from './world.ts';

interface Bounds {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Color {
  r: number;
  g: number;
  b: number;
  /** From 0 to 1. */
  a: number;
}

/** Whether a view that others cover is painted: that differs between versions and platforms of the runtime. */
const paintsCovered = process.env['DOUBLE_COVERED'] !== 'unpainted';

/** @param text `#rrggbb` or `#aarrggbb` */
export const colorOf = (text: string): Color => {
  const [, alpha = 'ff', rgb = ''] = /^#([\da-f]{2})?([\da-f]{6})$/i.exec(text) ?? [];
  if (rgb === '') throw new TypeError(`${text} is no color`);
  const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => Number.parseInt(rgb.slice(at, at + 2), 16));
  return { r, g, b, a: Number.parseInt(alpha, 16) / 255 };
};

const cssOf = ({ r, g, b, a }: Color): string => `rgb(${r} ${g} ${b} / ${a})`;

const meets = (a: Bounds, b: Bounds): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const contains = (outer: Bounds, inner: Bounds): boolean =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  outer.x + outer.width >= inner.x + inner.width &&
  outer.y + outer.height >= inner.y + inner.height;

export class View {
  #children: View[] = [];
  parent: View | null = null;
  /** Of the content view alone. */
  window: BaseWindow | null = null;
  bounds: Bounds = { x: 0, y: 0, width: 0, height: 0 };
  color: Color | null = null;

  get children(): View[] {
    return [...this.#children];
  }
  /**
   * As they are painted, from the bottom: a plain view has no layer, so it lies below all web contents, whatever the order
   * (shell/browser/api/electron_api_view.cc, Chromium's window_reorderer.cc).
   */
  painted(): View[] {
    return this.#children.toSorted((a, b) => Number(a.hasLayer()) - Number(b.hasLayer()));
  }
  hasLayer(): boolean {
    return false;
  }
  addChildView(view: View, index?: number): void {
    if (view.isGone()) throw new Error("Can't add a destroyed child view to a parent view");
    if (view === this) throw new Error('A view cannot be added as its own child');
    view.parent?.removeChildView(view);
    this.#children.splice(index ?? this.#children.length, 0, view);
    view.parent = this;
    this.root().update();
  }
  removeChildView(view: View): void {
    if (!this.#children.includes(view)) return;
    this.#children = this.#children.filter((each) => each !== view);
    view.parent = null;
    view.update();
    this.root().update();
  }
  setBounds(bounds: Bounds): void {
    this.bounds = bounds;
    this.root().update();
  }
  getBounds(): Bounds {
    return this.bounds;
  }
  setBackgroundColor(color: string): void {
    this.color = colorOf(color);
    this.root().update();
  }

  /** Whether its web contents are destroyed, and the view with them. */
  isGone(): boolean {
    return false;
  }
  /** Whether nothing shows through. */
  isOpaque(): boolean {
    return this.color?.a === 1;
  }
  root(): View {
    return this.parent?.root() ?? this;
  }
  /** What a real window shows of it. */
  layer(): Layer {
    return { key: '', bounds: this.bounds, color: this.color && cssOf(this.color), picture: null };
  }

  /** Lays out and paints what is in a window, and nothing else. */
  update(): void {
    const { window } = this.root();
    const area = window === null || window.isDestroyed() ? null : window.getContentBounds();
    const painted = this.painted();
    for (const [index, view] of painted.entries()) {
      const isCovered = painted
        .slice(index + 1)
        .some((above) => above.isOpaque() && contains(above.bounds, view.bounds));
      const isInside = area !== null && meets({ ...area, x: 0, y: 0 }, view.bounds);
      view.show(isInside && (paintsCovered || !isCovered), isInside);
      view.update();
    }
    if (this.parent === null && window === null) this.show(false, false);
    this.window?.drawAnew();
  }
  /** Takes the picture of what a real window shows of it. */
  async renew(): Promise<void> {}
  show(_isPainted: boolean, _isInside: boolean): void {}
}

export class WebContentsView extends View {
  /** As given. */
  readonly options: ContentsOptions;
  readonly #contents: WebContents;
  #isDestroyed = false;

  constructor(options: ContentsOptions = {}) {
    super();
    this.options = options;
    this.#contents = new WebContents(options);
    this.#contents.once('destroyed', () => {
      this.#isDestroyed = true;
    });
    this.#contents.onPicture = () => this.root().window?.draw();
    this.#contents.isInActiveWindow = () => {
      const { window } = this.root();
      return window !== null && !window.isDestroyed() && window.isFocused();
    };
    this.#contents.activateWindow = () => {
      const { window } = this.root();
      window?.focus();
      return window?.isFocused() ?? false;
    };
  }
  /** Undefined once they are destroyed. */
  get webContents(): WebContents | undefined {
    return this.#isDestroyed || this.#contents.isDestroyed() ? undefined : this.#contents;
  }
  override hasLayer(): boolean {
    return true;
  }
  override isGone(): boolean {
    return this.webContents === undefined;
  }
  /** A page that has been painted covers what is below, as far as anybody knows. */
  override isOpaque(): boolean {
    return (
      !this.isGone() &&
      (super.isOpaque() || this.color === null || (this.#contents.commits > 0 && this.#contents.isPainted))
    );
  }
  override setBackgroundColor(color: string): void {
    super.setBackgroundColor(color);
    if (this.color !== null && !this.isGone()) this.#contents.setBaseColor({ ...this.color });
  }
  override layer(): Layer {
    const picture = this.isGone() ? null : this.#contents.picture;
    return {
      ...super.layer(),
      key: `${this.#contents.id}:${picture?.number}`,
      // Without a color of its own it is white.
      ...(this.color === null && { color: '#ffffff' }),
      picture: picture?.png ?? null,
    };
  }
  override async renew(): Promise<void> {
    if (!this.isGone()) await this.#contents.takePicture();
  }
  override show(isPainted: boolean, isInside: boolean): void {
    if (this.isGone()) return;
    if (isInside) this.#contents.resize(this.bounds);
    this.#contents.setPainted(isPainted);
  }
}

const windows = new Set<BaseWindow>();
/** The one that has the keyboard. */
let active: BaseWindow | null = null;

/** Gives a window the keyboard. Its views get it only once they are focused: that is what a `BrowserWindow` does by itself. */
const activate = (next: BaseWindow | null): void => {
  if (next === active) return;
  const before = active;
  active = next;
  blurContents();
  // Later (electron_api_base_window.cc, EmitEventSoon).
  for (const [window, name] of [[before, 'blur'] as const, [next, 'focus'] as const]) {
    setImmediate(() => window?.isDestroyed() === false && window.emit(name));
  }
};

/** The ID of the display at a position; undefined: there is none. */
const displayAt = ({ x, y }: Bounds): number | undefined =>
  theWorld()
    .displays()
    .find(({ bounds }) => meets(bounds, { x, y, width: 1, height: 1 }))?.id;

interface WindowOptions extends Partial<Bounds> {
  title?: string;
  backgroundColor?: string;
  [option: string]: unknown;
}

/**
 * A window that is fullscreen or a kiosk is visible from the beginning on Linux, whatever `show` says, and the window system
 * gives it the size of a display: it can ask for none.
 */
export class BaseWindow extends EventEmitter {
  readonly #contentView = new View();
  /** As given. */
  readonly options: WindowOptions;
  #isDestroyed = false;
  #bounds: Bounds;
  readonly #isFullScreen: boolean;
  /** The display that it is on; of a real window only the compositor knows it. */
  #displayId: number | undefined;
  #real: RealWindow | null = null;
  /** How many times the pictures of all its views are being taken. */
  #renewals = 0;

  constructor(options: WindowOptions = {}) {
    super();
    if (!theWorld().app.isReady()) throw new Error('Cannot create BaseWindow before app is ready');
    this.options = options;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.#bounds = { x, y, width, height };
    this.#isFullScreen = options['fullscreen'] === true || options['kiosk'] === true;
    this.#displayId = displayAt(this.#bounds);
    this.#contentView.window = this;
    windows.add(this);
    this.settle();
    // Shown windows are active (native_window_views.cc, Show).
    if (!hasRealWindows) {
      activate(this);
      return;
    }
    // Frameless, with room for a shadow, it is transparent (native_window_views.cc, SetBackgroundColor): nothing is below it.
    const isTransparent = options['frame'] === false && options['hasShadow'] !== false;
    this.#real = openRealWindow(
      options.title ?? '',
      isTransparent ? '#000000' : (options.backgroundColor ?? '#ffffff'),
      {
        onKey: (key) => this.#focused()?.sendInputEvent(key),
        onSize: (size) => this.#become({ ...this.#bounds, ...size }),
        onFocus: (isFocused) => {
          if (isFocused) activate(this);
          else if (active === this) activate(null);
        },
      },
    );
  }

  static getAllWindows(): BaseWindow[] {
    return [...windows];
  }

  get contentView(): View {
    this.#check();
    return this.#contentView;
  }
  /** Called when the picture of one of its views has changed. */
  draw(): void {
    if (this.#renewals === 0) this.#real?.show(this.#contentView.painted().map((view) => view.layer()));
  }
  /** Called when its views have changed: what was below until now may have been painted since its last picture. */
  drawAnew(): void {
    if (this.#real === null) return;
    this.#renewals += 1;
    void Promise.allSettled(this.#contentView.painted().map((view) => view.renew())).then(() => {
      this.#renewals -= 1;
      this.draw();
    });
  }
  /** The contents that get its keys. */
  #focused(): WebContents | null {
    return active === this ? WebContents.getFocusedWebContents() : null;
  }
  /** Takes the keyboard from other windows (native_window_views.cc, Focus), except under sway, which ignores it. */
  focus(): void {
    this.#check();
    if (!hasRealWindows) activate(this);
  }
  isFocused(): boolean {
    this.#check();
    return active === this;
  }
  getContentBounds(): Bounds {
    this.#check();
    return this.#bounds;
  }
  isDestroyed(): boolean {
    return this.#isDestroyed;
  }
  setBounds(bounds: Partial<Bounds>): void {
    this.#check();
    // The window system does it, later. On Wayland a window can't place itself, and a full-screen one has no say in its size.
    if (hasRealWindows) return;
    const next = { ...this.#bounds, ...bounds };
    this.#displayId = displayAt(next) ?? this.#displayId;
    if (this.#isFullScreen) this.settle();
    else setImmediate(() => this.#become(next));
  }
  /** Gives a full-screen window the size of the display that it is on; called when displays change. */
  settle(): void {
    if (!this.#isFullScreen || hasRealWindows) return;
    setImmediate(() => {
      const display = theWorld()
        .displays()
        .find(({ id }) => id === this.#displayId);
      if (display !== undefined) this.#become({ ...display.bounds });
    });
  }
  #become(next: Bounds): void {
    if (this.#isDestroyed) return;
    const before = this.#bounds;
    this.#bounds = next;
    this.#contentView.update();
    if (next.x !== before.x || next.y !== before.y) this.emit('move');
    if (next.width !== before.width || next.height !== before.height) this.emit('resize');
  }
  close(): void {
    this.#check();
    const event = createEvent();
    this.emit('close', event);
    if (event.defaultPrevented) theWorld().onCloseCancelled();
    else if (!this.#isDestroyed) this.destroy();
  }
  /** The web contents of its views stay, as with Electron. */
  destroy(): void {
    this.#check();
    this.#isDestroyed = true;
    windows.delete(this);
    if (active === this) activate(hasRealWindows ? null : ([...windows].at(-1) ?? null));
    this.#contentView.update();
    this.#real?.close();
    this.emit('closed');
    if (windows.size === 0) theWorld().onAllWindowsClosed();
  }
  #check(): void {
    if (this.#isDestroyed) throw new TypeError('Object has been destroyed');
  }
}
