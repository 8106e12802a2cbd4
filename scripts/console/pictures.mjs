/**
 * The pictures of the documentation: where each is taken, and what must be in sight first. `path` gets what `fill`
 * gives; `before` may do something on the page.
 */
export const PICTURES = [
  { name: 'workflows', path: () => '/workflows', ready: 'table' },
  {
    name: 'editor',
    path: ({ workflow }) => `/workflows/edit/${workflow}`,
    ready: '[data-node="research"]',
    before: (page) => page.locator('[data-node="research"]').click(),
  },
  { name: 'runs', path: () => '/runs', ready: 'table' },
  { name: 'run', path: ({ runId }) => `/runs/${runId}/nodes/research`, ready: '[data-line="done"]' },
  {
    name: 'timeline',
    path: ({ runId }) => `/runs/${runId}?view=timeline`,
    ready: '[data-row="research"]',
  },
  { name: 'waiting', path: ({ waitingRunId }) => `/runs/${waitingRunId}`, ready: '[data-line="input.required"]' },
];
