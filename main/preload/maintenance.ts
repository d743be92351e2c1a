/** What the maintenance page may do: ask, and be answered. */
import { contextBridge, ipcRenderer } from 'electron';
import { maintenanceChannel } from '../channels.ts';

contextBridge.exposeInMainWorld('maintenance', {
  call: (call: unknown) => ipcRenderer.invoke(maintenanceChannel, call),
});
