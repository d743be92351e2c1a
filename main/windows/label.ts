/** The view that says which box and which display this is: see-through, over everything but the maintenance page. */
import { identifySeconds } from '../../service/public.ts';
import { ownPage, ownPartition } from '../own-pages.ts';
import type { Rotation } from './displays.ts';
import { type LayeredWindow, openView } from './layers.ts';
import { rotateContents, TRANSPARENT, TWO_FRAMES, watchChord } from './web-pages.ts';

/** What the view says. */
export interface DisplayLabel {
  name: string;
  /** Its base URL for other machines; null: they cannot reach it. */
  address: string | null;
  /** Of the display, from 1. */
  number: number;
}

/** Shows the view for {@link identifySeconds}. Resolves once it has been painted. @throws Error if it cannot be shown */
export const showLabel = async (
  window: LayeredWindow,
  { name, address, number }: DisplayLabel,
  { rotation, onChord }: { rotation: Rotation; onChord(): void },
): Promise<void> => {
  const view = openView({ partition: ownPartition }, TRANSPARENT);
  const { webContents: contents } = view;
  const close = (): void => {
    clearTimeout(timer);
    window.close(view);
  };
  const timer = setTimeout(close, identifySeconds * 1000).unref();
  contents.on('render-process-gone', close);
  watchChord(contents, onChord);
  rotateContents(contents, rotation);
  window.put(view, 'identify');
  try {
    await contents.loadURL(
      ownPage('identify.html', { name, number: String(number), ...(address !== null && { address }) }),
    );
    await contents.mainFrame.executeJavaScript(TWO_FRAMES);
  } catch (error) {
    close();
    throw error;
  }
};
