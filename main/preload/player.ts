/** All that a page of the service gets to know of the kiosk: it listens to its pulse, and opens pages of others. */
import { contextBridge, ipcRenderer } from 'electron';
import { beatChannel, foreignChannel } from '../channels.ts';
import type { KioskBridge } from '../service-host.ts';

contextBridge.exposeInMainWorld('kiosk', {
  beat: (beat) => ipcRenderer.send(beatChannel, beat),
  foreign: (call) => ipcRenderer.invoke(foreignChannel, call),
} satisfies KioskBridge);
