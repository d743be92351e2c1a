/** The kiosk's API for pages of the service: they report heartbeats, open external pages, receive what covers them, and prove their device. */
import { contextBridge, ipcRenderer } from 'electron';
import type { KioskBridge } from '../../service/public.ts';
import { coverChannel, externalChannel, heartbeatChannel, proveChannel } from '../channels.ts';

contextBridge.exposeInMainWorld('kiosk', {
  heartbeat: (heartbeat) => ipcRenderer.send(heartbeatChannel, heartbeat),
  external: (call) => ipcRenderer.invoke(externalChannel, call),
  cover: (known) => ipcRenderer.invoke(coverChannel, known),
  prove: (needs) => ipcRenderer.invoke(proveChannel, needs),
} satisfies KioskBridge);
