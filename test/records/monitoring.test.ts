/** What Prometheus and Grafana make of the metrics: the shipped dashboard and alert rules. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { freePort } from '../support/ports.ts';
import { findProgram } from '../support/program.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { metricsOf } from './samples.ts';

const resources = join(import.meta.dirname, '..', '..', 'resources');
const rulesFile = join(resources, 'prometheus', 'alerts.yml');

const guide = readFileSync(join(resources, 'guide', 'records.md'), 'utf8');

interface ScrapeConfig {
  rule_files: string[];
  scrape_configs: [{ job_name: string; static_configs: [{ targets: string[] }] }];
}

interface Panel {
  title: string;
  targets: { expr: string }[];
}
const { panels } = JSON.parse(readFileSync(join(resources, 'grafana', 'signage.json'), 'utf8')) as { panels: Panel[] };
const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: { alert: string; expr: string }[] }[] };

const dashboardQueries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));
const ruleQueries = groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const));

const namesIn = (query: string): string[] => query.match(/\b(?:signage|process|nodejs)_\w+/g) ?? [];

test('the dashboard and the rules use names that a box exports, and all of its own', async () => {
  const service = await startTestService({ content: lobby });
  const text = await (await service.get('/metrics')).text();
  const exported = new Set(text.match(/^\w+/gm));
  const used = new Set([...dashboardQueries, ...ruleQueries].flatMap(([, query]) => namesIn(query)));
  expect([...used].filter((name) => !exported.has(name))).toEqual([]);
  const own = [...text.matchAll(/^# TYPE (signage_\w+)/gm)].map(([, name = '']) => name);
  expect(own.filter((name) => ![...used].some((each) => each.startsWith(name)))).toEqual([]);
});

test('what the queries select by labels are values that a box exports', async () => {
  const service = await startTestService({ content: lobby });
  const samples = await metricsOf(service);
  const selected = [...dashboardQueries, ...ruleQueries].flatMap(([title, query]) =>
    [...query.matchAll(/\b(signage_\w+)\{([^}]*)\}/g)].flatMap(([, name = '', matchers = '']) =>
      [...matchers.matchAll(/(\w+)=~?"([^"]*)"/g)]
        .filter(([, label]) => label !== 'instance')
        .flatMap(([, label = '', values = '']) => values.split('|').map((value) => ({ title, name, label, value }))),
    ),
  );
  expect(selected.length).toBeGreaterThan(5);
  const isExported = ({ name, label, value }: (typeof selected)[number]): boolean =>
    samples.some((sample) => sample.name === name && sample.labels[label] === value);
  expect(selected.filter((each) => !isExported(each))).toEqual([]);
});

const isSkipped =
  (findProgram('promtool') === undefined || findProgram('prometheus') === undefined) && process.env.CI !== 'true';

test.skipIf(isSkipped)('promtool finds nothing wrong with the metrics and the rules', async () => {
  const service = await startTestService({ content: lobby });
  const input = await (await service.get('/metrics')).text();
  expect(execFileSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('');
  expect(execFileSync('promtool', ['check', 'rules', rulesFile], { encoding: 'utf8' })).toContain('SUCCESS');
});

test.skipIf(isSkipped)(
  'a real Prometheus that scrapes two boxes answers every query of the dashboard',
  walk,
  async () => {
    const first = await startTestService({ content: lobby });
    const second = await startTestService({ content: lobby, env: { SIGNAGE_PEERS: first.url } });
    const folder = temporaryFolder();
    const config = join(folder, 'prometheus.yml');
    // As the guide has it, with the addresses of these boxes, and in a hurry.
    const written = parse(/```yaml\n([^]*?)```/.exec(guide)?.[1] ?? '') as ScrapeConfig;
    const [scrape] = written.scrape_configs;
    scrape.static_configs[0].targets = [first, second].map(({ url }) => new URL(url).host);
    const hurried = {
      ...written,
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rulesFile],
    };
    writeFileSync(config, JSON.stringify(hurried));
    expect(execFileSync('promtool', ['check', 'config', config], { encoding: 'utf8' })).toContain('SUCCESS');
    const port = await freePort();
    const prometheus = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: 'ignore' },
    );
    onTestFinished(async () => {
      prometheus.kill('SIGKILL');
      if (prometheus.exitCode === null) await once(prometheus, 'exit');
    });
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json();
    const results = async (query: string): Promise<number> => {
      const { status, data } = (await ask(`query?query=${encodeURIComponent(query)}`)) as {
        status: string;
        data: { result: unknown[] };
      };
      if (status !== 'success') throw new Error(`${query}: ${status}`);
      return data.result.length;
    };
    // Two scrapes of each box, so that there are rates.
    await expect.poll(() => results('count_over_time(signage_build_info[1m]) >= 2').catch(() => 0), patience).toBe(2);
    await first.post('/api/screens/lobby/commands', { command: 'next' });

    const answered = () =>
      Promise.all(
        dashboardQueries.map(async ([title, expr]) => {
          const count = await results(expr.replaceAll('$instance', '.*'));
          return [title, count > 0] as const;
        }),
      );
    await expect.poll(answered, patience).toEqual(dashboardQueries.map(([title]) => [title, true]));
    for (const [, expr] of ruleQueries) await results(expr);
    const { data } = (await ask('rules')) as { data: { groups: { rules: { name: string; health: string }[] }[] } };
    const health = data.groups.flatMap(({ rules }) => rules.map((rule) => rule.health));
    expect(health).not.toContain('err');
    expect(health).toHaveLength(ruleQueries.length);
  },
);
