/** `GET /metrics` in Prometheus's text format. The modules report their numbers when they are asked for. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type MetricName, type MetricReport, metrics, otherValues } from '../contract/metrics.ts';
import type { ServiceContext } from '../module.ts';

/** Interval, ms, at which the delay of the event loop is measured. */
const LOOP_DELAY_MS = 50;

/** Sums of other metrics of the process, named as counters though they are gauges. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

interface Sample {
  labels: Record<string, string>;
  value: number;
}

type Labels = Readonly<Record<string, readonly string[] | { readonly most: number }>>;

/** The values that a metric has from the start: all combinations of bounded labels, each 0. */
const initialSamples = (labels: Labels): Sample[] =>
  Object.entries(labels).reduce<Sample[]>(
    (samples, [name, values]) =>
      samples.flatMap((sample) =>
        'most' in values ? [] : values.map((value) => ({ ...sample, labels: { ...sample.labels, [name]: value } })),
      ),
    [{ labels: {}, value: 0 }],
  );

/** Numbers by label values as samples, to be summed: those beyond the maximum number of values of a label have one label. */
const samplesOf = (report: NonNullable<MetricReport[MetricName]>, labels: Labels): Sample[] => {
  if (typeof report === 'number') return [{ labels: {}, value: report }];
  const [[name = '', values] = [], ...rest] = Object.entries(labels);
  const most = values !== undefined && 'most' in values ? values.most : Number.POSITIVE_INFINITY;
  return Object.entries(report).flatMap(([value, inner], index) =>
    samplesOf(inner, Object.fromEntries(rest)).map((sample) => ({
      ...sample,
      labels: { [name]: index < most ? value : otherValues, ...sample.labels },
    })),
  );
};

/** @param reports the numbers of all modules */
export const createMetrics = (
  { monotonicNow, tempo, kiosk }: Pick<ServiceContext, 'kiosk' | 'monotonicNow' | 'tempo'>,
  reports: () => Promise<readonly MetricReport[]>,
) => {
  const registry = new Registry();
  const histograms = new Map<MetricName, Histogram>();
  const writers: ((report: MetricReport) => void)[] = [];

  for (const [name, metric] of Object.entries(metrics)) {
    if ('isOfKiosk' in metric && kiosk === undefined) continue;
    const labels: Labels = 'labels' in metric ? metric.labels : {};
    const settings = { name, help: metric.help, labelNames: Object.keys(labels), registers: [registry] };
    if (metric.type === 'histogram') {
      histograms.set(name as MetricName, new Histogram({ ...settings, buckets: [...metric.buckets] }));
      continue;
    }
    const isGauge = metric.type === 'gauge';
    const series = isGauge ? new Gauge(settings) : new Counter(settings);
    writers.push((report) => {
      const value = report[name as MetricName];
      const reported = value === undefined ? [] : samplesOf(value, labels);
      // A screen that was removed has no series any more.
      series.reset();
      for (const sample of [...initialSamples(labels), ...reported]) series.inc(sample.labels, sample.value);
    });
  }

  let isCollectingProcess = false;
  let collectedAt = Number.NEGATIVE_INFINITY;
  let collected: Promise<string> = Promise.resolve('');

  const collect = async (): Promise<string> => {
    // A box that is not scraped does not measure its event loop.
    if (!isCollectingProcess) {
      isCollectingProcess = true;
      collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_MS });
      for (const name of misnamed) registry.removeSingleMetric(name);
    }
    const report: MetricReport = Object.assign({}, ...(await reports()));
    for (const write of writers) write(report);
    return registry.metrics();
  };

  return {
    contentType: registry.contentType,
    observe: (name: 'signage_swap_gap_seconds', value: number): void => histograms.get(name)?.observe(value),
    /** The text; few a second are made: the endpoint is public, and collecting costs more on larger sites. */
    text: (): Promise<string> => {
      if (monotonicNow() - collectedAt < tempo.records.metrics) return collected;
      collectedAt = monotonicNow();
      collected = collect();
      return collected;
    },
  };
};
