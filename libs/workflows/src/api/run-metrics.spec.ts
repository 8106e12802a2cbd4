import type { TaskState } from '#libs/protocol';
import { type AppConfig, Metrics } from '#libs/service';
import type { TaskCounts } from '#libs/tasks';
import { RunMetrics } from './run-metrics.js';

function stage(metricsWorkflows = true) {
  const metrics = new Metrics();
  const counts = { countWaiting: async () => ({ input: 1, auth: 0, timer: 0 }) } as unknown as TaskCounts;
  const runs = new RunMetrics(metrics, counts, { metricsWorkflows } as AppConfig);
  const end = (agent: string, state: TaskState, seconds = 2): void => {
    const task = { taskId: 't', contextId: 'c', agent, tenant: '', owner: '', state };
    runs.countEnded({ ...task, createdAt: new Date(1_000), settledAt: new Date(1_000 + seconds * 1_000) });
  };
  return { metrics, end };
}

describe('RunMetrics', () => {
  it('counts runs that end, by workflow and outcome, and how long they took', async () => {
    const { metrics, end } = stage();
    end('workflows/tea', 'TASK_STATE_COMPLETED', 2);
    end('workflows/tea', 'TASK_STATE_COMPLETED', 20);
    end('workflows/tea', 'TASK_STATE_CANCELED');
    end('workflows/tea', 'TASK_STATE_REJECTED');
    const text = await metrics.readExposition();
    expect(text).toContain('parley_runs_total{workflow="tea",outcome="completed"} 2');
    expect(text).toContain('parley_runs_total{workflow="tea",outcome="canceled"} 1');
    expect(text).toContain('parley_runs_total{workflow="tea",outcome="failed"} 1');
    expect(text).toContain('parley_run_duration_seconds_sum{workflow="tea",outcome="completed"} 22');
    expect(text).toContain('parley_run_duration_seconds_bucket{le="5",workflow="tea",outcome="completed"} 1');
  });

  it('counts no Tasks of nodes and other agents', async () => {
    const { metrics, end } = stage();
    end('workflows/tea/nodes/cup', 'TASK_STATE_COMPLETED');
    end('conversations', 'TASK_STATE_COMPLETED');
    expect(await metrics.readExposition()).not.toContain('parley_runs_total{');
  });

  it('names no workflow unless it is told to', async () => {
    const { metrics, end } = stage(false);
    end('workflows/tea', 'TASK_STATE_COMPLETED');
    end('workflows/secret-plan', 'TASK_STATE_COMPLETED');
    const text = await metrics.readExposition();
    expect(text).toContain('parley_runs_total{workflow="other",outcome="completed"} 2');
    expect(text).not.toMatch(/tea|secret-plan/);
  });

  it('tells two hundred workflows apart', async () => {
    const { metrics, end } = stage();
    for (let index = 0; index < 203; index += 1) end(`workflows/w${index}`, 'TASK_STATE_COMPLETED');
    end('workflows/w7', 'TASK_STATE_COMPLETED');
    const text = await metrics.readExposition();
    expect(text.match(/^parley_runs_total\{/gm)).toHaveLength(201);
    expect(text).toContain('parley_runs_total{workflow="other",outcome="completed"} 3');
    expect(text).toContain('parley_runs_total{workflow="w7",outcome="completed"} 2');
  });
});
