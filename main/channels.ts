/** The channels between the kiosk and its pages; preload scripts are bundled with them. */

/** The pulse of a page of the service. */
export const beatChannel = 'kiosk:beat';

/** Calls of the maintenance page. */
export const maintenanceChannel = 'kiosk:maintenance';
