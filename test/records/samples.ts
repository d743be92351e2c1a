/** The text format of Prometheus, read. */
import type { TestService } from '../support/service.ts';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export const samplesOf = (text: string): Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', list = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const labels = [...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', each = '']) => [label, each]);
      return { name, labels: Object.fromEntries(labels) as Record<string, string>, value: Number(value) };
    });

/** The metrics of a service; each is collected at most once a second. */
export const metricsOf = async (service: Pick<TestService, 'get'>): Promise<Sample[]> =>
  samplesOf(await (await service.get('/metrics')).text());

/** The value of the sample that has these labels. */
export const sampleValue = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}) =>
  samples.find(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
