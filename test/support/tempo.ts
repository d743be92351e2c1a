/** The waiting times of services in tests: what a test waits for is ten to fifty times as short as on a box. */
import type { Tempo } from '../../service/tempo.ts';

export const testTempo: Tempo = {
  clock: {
    fast: 25,
    slow: 200,
    calm: 1_000,
    calmAfter: 3_000,
    grace: 300,
    noTime: 1_000,
    survey: 1_000,
    calmSurvey: 3_000,
    opinion: 6_000,
  },
  content: {
    poll: 100,
    quiet: 10,
    settle: [20, 80],
    schema: 20,
    template: 3_000,
    templates: 15_000,
    idle: 1_000,
    warnings: 2_000,
  },
  records: {
    alerts: 50,
    disk: 500,
    answer: 2_000,
    retry: 50,
    maxRetry: 1_000,
    gather: 50,
    expiry: 3_600_000,
  },
};
