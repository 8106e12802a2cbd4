import type { Page } from 'playwright-core';

export interface ToldEvent {
  type: string;
  node_id?: string;
  payload?: object;
  [field: string]: unknown;
}

export interface ToldWorkflow {
  nodes: { id: string; type: string; config: object; position?: { x: number; y: number } }[];
  edges: { from: string; to: string }[];
}

const AT = Date.parse('2026-11-22T10:00:00.000Z');

/**
 * Shows a page a run with these events, whatever the service has. This makes states testable that no real run reaches.
 */
export async function tellRun(page: Page, url: string, workflow: ToldWorkflow, events: ToldEvent[]): Promise<void> {
  const frames = events.map((event, index) => {
    const timestamp = new Date(AT + index * 10).toISOString();
    const told = { payload: {}, ...event, sequence: index + 1, timestamp, runId: 'told', workflow: 'told' };
    return `id: ${index + 1}\nevent: ${event.type}\ndata: ${JSON.stringify(told)}\n\n`;
  });
  const run = { runId: 'told', workflow: 'told', status: 'completed', inputs: {}, nodes: {} };
  await page.route('**/api/runs/told', (route) => route.fulfill({ json: run }));
  await page.route('**/api/runs/told/workflow', (route) => route.fulfill({ json: { name: 'told', ...workflow } }));
  await page.route('**/api/runs/told/events?*', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: frames.join('') }),
  );
  await page.goto(`${url}/runs/told`);
}
