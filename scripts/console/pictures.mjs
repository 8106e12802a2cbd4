/**
 * Pictures of the documentation: the address of each, and the content that must be visible first. `path` gets the
 * result of `fill`; `before` may act on the page.
 */
export const PICTURES = [
  { name: 'workflows', path: () => '/workflows', ready: 'table' },
  {
    name: 'editor',
    path: ({ workflow }) => `/workflows/edit/${workflow}`,
    ready: '[data-node="research"]',
    before: (page) => page.locator('[data-node="research"]').click(),
  },
  {
    name: 'loop',
    path: ({ loop }) => `/workflows/edit/${loop}`,
    ready: '[data-edge-label="critic->write"]',
    before: async (page) => {
      await page.locator('[data-edge-label="critic->write"]').click();
      await page.locator('[data-expression="valid"]').waitFor();
    },
  },
  { name: 'runs', path: () => '/runs', ready: 'table' },
  { name: 'run', path: ({ runId }) => `/runs/${runId}/nodes/research`, ready: '[data-line="done"]' },
  {
    name: 'transcript',
    path: ({ agentRunId }) => `/runs/${agentRunId}/nodes/answer`,
    ready: '[data-step="tool"]',
    before: async (page) => {
      await page.locator('[data-step="model"]').first().getByRole('button', { name: 'Sent' }).click();
      await page.getByRole('region', { name: 'System prompt' }).first().waitFor();
      await page.getByRole('heading', { name: 'Transcript' }).evaluate((it) => it.scrollIntoView());
    },
  },
  {
    name: 'timeline',
    path: ({ agentRunId }) => `/runs/${agentRunId}?view=timeline`,
    ready: '[data-part="tool"]',
  },
  {
    name: 'iterations',
    path: ({ loopRunId }) => `/runs/${loopRunId}/nodes/write%402`,
    ready: '[data-iterations="3/5"]',
  },
  {
    name: 'inbox',
    path: () => '/inbox',
    ready: '[data-question="approve"]',
    before: (page) => page.locator('[data-question="approve"]').getByRole('button', { name: 'Answer' }).click(),
  },
  { name: 'waiting', path: ({ waitingRunId }) => `/runs/${waitingRunId}`, ready: '[data-line="input.required"]' },
  { name: 'conversations', path: () => '/conversations', ready: 'table' },
  { name: 'conversation', path: ({ conversationId }) => `/conversations/${conversationId}`, ready: '[data-turn="3"]' },
  { name: 'brainstorms', path: () => '/brainstorms', ready: 'table' },
  { name: 'brainstorm', path: ({ brainstormId }) => `/brainstorms/${brainstormId}`, ready: '[data-provenance]' },
  { name: 'agents', path: () => '/agents', ready: 'table' },
  { name: 'card', path: ({ agentUrls }) => `/agents/one?agent=${agentUrls.researcher}/a2a`, ready: 'dl' },
  {
    name: 'playground',
    path: ({ engineer }) => `/agents/one?agent=${engineer}&tab=playground`,
    ready: 'form',
    before: async (page) => {
      await page.getByLabel('Message', { exact: true }).fill('What happens to a Task when its process dies?');
      await page.keyboard.press('Enter');
      await page.locator('[data-status="TASK_STATE_COMPLETED"]').waitFor();
      await page.locator('[data-line="frame"]', { hasText: 'TASK_STATE_COMPLETED' }).waitFor();
    },
  },
  { name: 'tasks', path: () => '/tasks', ready: 'table' },
  { name: 'task', path: ({ conversationId }) => `/tasks/${conversationId}?tab=events`, ready: '[data-sequence="2"]' },
];
