import { powerSaveBlocker } from 'electron';

/** @returns a function that prevents the system from turning the displays off, or permits it */
export const createKeepAwake = (): ((on: boolean) => void) => {
  let id: number | null = null;
  return (on) => {
    if (on === (id !== null)) return;
    if (id !== null) powerSaveBlocker.stop(id);
    id = on ? powerSaveBlocker.start('prevent-display-sleep') : null;
  };
};
