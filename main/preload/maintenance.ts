/** The kiosk's API for the maintenance page: one request with one response. */
import { contextBridge, ipcRenderer } from 'electron';
import { maintenanceChannel } from '../channels.ts';

contextBridge.exposeInMainWorld('maintenance', {
  call: (call: unknown) => ipcRenderer.invoke(maintenanceChannel, call),
});
