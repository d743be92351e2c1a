/** Runs before each test file: files share the modules of their worker, and one browser. */
import { afterAll } from 'vitest';
import { closeContexts } from './browser.ts';

afterAll(closeContexts);
