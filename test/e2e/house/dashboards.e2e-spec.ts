import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentedMetrics } from '../../support/documented-metrics.js';
import { describeWithPromtool, promtool } from '../../support/promtool.js';

const ALERTS = 'deploy/prometheus/alerts.yml';
const DASHBOARD = 'deploy/grafana/parley.json';

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

describe('what is deployed to watch Parley', () => {
  it.each([ALERTS, DASHBOARD])('%s asks for no metric that there is not', (file) => {
    const asked = new Set(readFileSync(file, 'utf8').match(/\bparley_\w+/g));
    const known = documentedMetrics().flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    expect([...asked].filter((name) => !known.includes(name))).toEqual([]);
    expect(asked.size).toBeGreaterThan(5);
  });
});

describeWithPromtool('what promtool says', () => {
  it('the alerts are rules, and each is given when it should be and not before', () => {
    expect(promtool('check', 'rules', ALERTS)).toContain('SUCCESS');
    expect(promtool('test', 'rules', 'deploy/prometheus/alerts_test.yml')).toContain('SUCCESS');
  });

  it('every alert has a test', () => {
    const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    const tested = readFileSync('deploy/prometheus/alerts_test.yml', 'utf8');
    expect(alerts.filter((name) => !tested.includes(`alertname: ${name}`))).toEqual([]);
  });

  it('every panel of the dashboard asks something that Prometheus understands', () => {
    const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] };
    const asked = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const rules = asked.map((expr, index) => ({ record: `panel_${index}`, expr: expr.replaceAll(/\$__\w+/g, '5m') }));
    const folder = mkdtempSync(join(tmpdir(), 'parley-panels-'));
    try {
      // JSON is YAML.
      writeFileSync(join(folder, 'panels.yml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }));
      expect(promtool('check', 'rules', join(folder, 'panels.yml'))).toContain(`${asked.length} rules found`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
