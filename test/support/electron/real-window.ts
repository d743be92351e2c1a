/**
 * A window of the mock as a window of a real compositor: Chromium, full-screen, that shows the pictures of the views one
 * over the other. As Electron's, it finds the compositor by XDG_SESSION_TYPE. Where a view has not painted yet its background shows, and below that the window's.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Chromium, launchChromium } from './chromium.ts';
import type { KeyInput } from './keys.ts';

/** What a view contributes; the lowest comes first. */
export interface Layer {
  /** Changes with the picture. */
  key: string;
  bounds: { x: number; y: number; width: number; height: number };
  /** As CSS; null: none. */
  color: string | null;
  /** PNG, base64; null: nothing is painted. */
  picture: string | null;
}

export interface RealWindow {
  /** Shows the layers; while they are being drawn, later ones wait and the last of them wins. */
  show(layers: readonly Layer[]): void;
  close(): void;
}

/** Whether windows are shown, by the compositor that the environment names. */
export const hasRealWindows = process.env['DOUBLE_WINDOWS'] === 'wayland';

/** One that has not painted by then never does; on a slow machine it takes as long as a minute. */
const FIRST_FRAME_MS = 90_000;
const firstFrame = `globalThis.draw !== undefined && new Promise((resolve) => requestAnimationFrame(() => resolve(true)))`;

const binding = 'tell';

const page = (title: string, background: string): string => `<!doctype html><title>${title}</title>
<style>html, body { margin: 0; background: ${background}; overflow: hidden } canvas { position: fixed; top: 0; left: 0 }</style>
<canvas></canvas>
<script>
  const canvas = document.querySelector('canvas');
  const context = canvas.getContext('2d');
  const pictures = new Map();
  let last = [];
  globalThis.draw = async (layers) => {
    last = layers;
    for (const { key, picture } of layers) {
      if (picture === null || pictures.has(key)) continue;
      const bytes = await (await fetch('data:image/png;base64,' + picture)).blob();
      pictures.set(key, await createImageBitmap(bytes));
    }
    for (const key of pictures.keys()) if (!layers.some((layer) => layer.key === key)) pictures.delete(key);
    if (canvas.width !== innerWidth) canvas.width = innerWidth;
    if (canvas.height !== innerHeight) canvas.height = innerHeight;
    context.fillStyle = '${background}';
    context.fillRect(0, 0, canvas.width, canvas.height);
    for (const { key, bounds: { x, y, width, height }, color } of layers) {
      if (color !== null) {
        context.fillStyle = color;
        context.fillRect(x, y, width, height);
      }
      if (pictures.has(key)) context.drawImage(pictures.get(key), x, y, width, height);
    }
    await new Promise((resolve) => setTimeout(resolve));
  };
  globalThis.tellSize = () => globalThis.${binding}?.(JSON.stringify({ width: innerWidth, height: innerHeight }));
  globalThis.tellFocus = () => globalThis.${binding}?.(JSON.stringify({ isFocused: document.hasFocus() }));
  addEventListener('resize', () => { tellSize(); draw(last); });
  for (const name of ['focus', 'blur']) addEventListener(name, tellFocus);
  addEventListener('keydown', (event) => {
    // A window of Electron without a menu has no keyboard shortcuts, such as Ctrl+S and Ctrl+P.
    event.preventDefault();
    const { key, ctrlKey, altKey, shiftKey } = event;
    globalThis.${binding}?.(JSON.stringify({ key, control: ctrlKey, alt: altKey, shift: shiftKey }));
  });
</script>`;

interface RealWindowHandlers {
  /** Called with each key that the compositor gives the window. */
  onKey(key: KeyInput): void;
  /** Called with each size that the compositor gives the window. */
  onSize(size: { width: number; height: number }): void;
  /** Called when the compositor gives the window the keyboard, or takes it. */
  onFocus(isFocused: boolean): void;
}

export const openRealWindow = (
  title: string,
  background: string,
  { onKey, onSize, onFocus }: RealWindowHandlers,
): RealWindow => {
  const address = `data:text/html,${encodeURIComponent(page(title, background))}`;
  let isClosed = false;
  let chromium: Chromium | null = null;
  let wanted: readonly Layer[] | null = null;
  let last: readonly Layer[] | null = null;
  let isDrawing = false;
  /** The pictures that the window has. */
  let known = new Set<string>();
  let evaluate: ((expression: string) => Promise<unknown>) | null = null;

  const draw = async (): Promise<void> => {
    if (isDrawing || evaluate === null) return;
    isDrawing = true;
    while (wanted !== null && !isClosed) {
      const layers = wanted;
      wanted = null;
      const sent = layers.map((layer) => (known.has(layer.key) ? { ...layer, picture: null } : layer));
      known = new Set(layers.flatMap(({ key, picture }) => (picture === null ? [] : [key])));
      await evaluate(`draw(${JSON.stringify(sent)})`).catch(() => {});
    }
    isDrawing = false;
  };

  /** Whether the window paints: of two browsers that start together on a slow machine one may stay empty for ever. */
  const paints = async (send: Chromium['send'], session: string): Promise<boolean> => {
    const until = performance.now() + FIRST_FRAME_MS;
    while (performance.now() < until && !isClosed) {
      const asked = { expression: firstFrame, awaitPromise: true, returnByValue: true };
      // A page that is being replaced by its next one answers nothing, or an error.
      const answer = await Promise.race([
        send('Runtime.evaluate', asked, session).catch(() => null),
        wait(10_000, null, { ref: false }),
      ]);
      if ((answer?.['result'] as { value?: unknown } | undefined)?.value === true) return true;
      await wait(50);
    }
    return false;
  };

  const attach = async ({ send, events, kill }: Chromium): Promise<void> => {
    let targetId: string | undefined;
    while (targetId === undefined) {
      const { targetInfos } = await send('Target.getTargets');
      targetId = (targetInfos as { type: string; targetId: string }[]).find(({ type }) => type === 'page')?.targetId;
    }
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    const session = String(sessionId);
    events.on(session, (method: string, { name, payload }: { name?: string; payload?: string }) => {
      if (method !== 'Runtime.bindingCalled' || name !== binding) return;
      const { width, height, key, control, alt, shift, isFocused } = JSON.parse(payload ?? '');
      if (isFocused !== undefined) return onFocus(isFocused);
      if (key === undefined) return onSize({ width, height });
      const modifiers = Object.entries({ control, alt, shift }).flatMap(([modifier, isOn]) => (isOn ? modifier : []));
      onKey({ type: 'keyDown', keyCode: key, modifiers });
    });
    await send('Runtime.enable', {}, session);
    await send('Runtime.addBinding', { name: binding }, session);
    if (!(await paints(send, session))) return kill();
    evaluate = (expression) => send('Runtime.evaluate', { expression, awaitPromise: true }, session);
    await evaluate('tellSize(), tellFocus()');
    await draw();
  };

  const open = async (): Promise<void> => {
    // Of two that start together one may crash, at its start or a little later.
    while (!isClosed) {
      chromium = await launchChromium(['--test-type', '--kiosk', '--force-dark-mode', `--app=${address}`]).catch(
        () => null,
      );
      if (chromium === null) continue;
      if (isClosed) return chromium.kill();
      await Promise.race([chromium.ended, attach(chromium)]);
      await chromium.ended;
      evaluate = null;
      isDrawing = false;
      known = new Set();
      wanted ??= last;
    }
  };
  open().catch((error: unknown) => console.error('the mock could not open a window:', error));

  return {
    show: (layers) => {
      last = layers;
      wanted = layers;
      void draw();
    },
    close: () => {
      isClosed = true;
      chromium?.kill();
    },
  };
};
