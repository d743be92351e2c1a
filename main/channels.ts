/** The IPC channels between the kiosk and its pages. Bundled into the preload scripts. */

/** Heartbeats of the service's pages. */
export const heartbeatChannel = 'kiosk:heartbeat';

/** Requests of the service's pages to show external pages in views. */
export const externalChannel = 'kiosk:external';

/** Questions of the service's pages about what covers them. */
export const coverChannel = 'kiosk:cover';

/** Requests of the service's pages for proofs that they are their device. */
export const proveChannel = 'kiosk:prove';

/** Requests of the maintenance page. */
export const maintenanceChannel = 'kiosk:maintenance';
