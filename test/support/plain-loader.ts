/**
 * A module loader without what tsx adds to keep the names of functions, which makes each closure slow to create: light
 * boxes share the processors of one machine. Used after `--import tsx`, by which it is loaded itself.
 */
import { register } from 'node:module';

register('./plain-hooks.ts', import.meta.url);
