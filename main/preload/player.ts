/** All that a page of the service gets to know of the kiosk: somebody listens to its pulse. */
import { contextBridge, ipcRenderer } from 'electron';
import { beatChannel } from '../channels.ts';
import type { Beat } from '../service-host.ts';

contextBridge.exposeInMainWorld('kiosk', { beat: (beat: Beat) => ipcRenderer.send(beatChannel, beat) });
