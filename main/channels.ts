/** The channels between the kiosk and its pages; preload scripts are bundled with them. */

/** The pulse of a page of the service. */
export const beatChannel = 'kiosk:beat';

/** Its calls for pages of others, which no frame may hold. */
export const foreignChannel = 'kiosk:foreign';

/** Calls of the maintenance page. */
export const maintenanceChannel = 'kiosk:maintenance';
