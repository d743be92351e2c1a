/** Records of what happened: metrics. */

import { isTrusted } from '../domain/clock-trust.ts';
import type { Module, Modules, ServiceContext } from '../module.ts';
import type { Reports } from '../screens/reports.ts';
import { createMetrics } from './metrics.ts';

interface Dependencies {
  modules: Pick<Modules, 'metrics'>;
  reports: Pick<Reports, 'onSwap'>;
}

export const createRecords = (context: ServiceContext, { modules, reports }: Dependencies): Module => {
  const { now, monotonicNow, version, kiosk } = context;
  const metrics = createMetrics({ reports: modules.metrics, monotonicNow });
  reports.onSwap((gapMs) => metrics.observe('signage_swap_gap_seconds', gapMs / 1000));

  return {
    routes: {
      'GET /metrics': async (ctx) => {
        ctx.set('Cache-Control', 'no-store');
        ctx.set('Content-Type', metrics.contentType);
        ctx.body = await metrics.text();
      },
    },
    metrics: () => ({
      signage_build_info: { [version]: 1 },
      signage_clock_trusted: Number(isTrusted(now())),
      ...(kiosk && { signage_recoveries_total: kiosk().recoveries }),
    }),
  };
};
