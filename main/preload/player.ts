/** The kiosk's API for pages of the service: they report heartbeats and open external pages. */
import { contextBridge, ipcRenderer } from 'electron';
import type { KioskBridge } from '../../service/public.ts';
import { externalChannel, heartbeatChannel } from '../channels.ts';

contextBridge.exposeInMainWorld('kiosk', {
  heartbeat: (heartbeat) => ipcRenderer.send(heartbeatChannel, heartbeat),
  external: (call) => ipcRenderer.invoke(externalChannel, call),
} satisfies KioskBridge);
