/** Takeovers. */
import { CodedError } from '../contract/errors.ts';
import type { Routes } from '../http/routes.ts';

export const takeoverRoutes = (): Routes => ({
  'PUT /console/api/takeovers/:id': () => {
    throw new CodedError('not_supported');
  },
  'DELETE /console/api/takeovers/:id': () => {
    throw new CodedError('takeover_not_found');
  },
  'GET /console/api/connections/:id/screenshot': () => {
    throw new CodedError('screenshot_unavailable');
  },
});
