/** Release files that boxes hand to each other. */
import type { Module, ServiceContext } from '../module.ts';
import { updateRoutes } from './routes.ts';

export const createUpdates = ({ dirs }: ServiceContext): Module => ({ routes: updateRoutes({ dataDir: dirs.data }) });
