/** The steps of a run that its streams tell of. */
export const RUN_EVENT_TYPES = [
  'node.started',
  'a2a.sending',
  'a2a.received',
  'node.completed',
  'node.error',
  'node.canceled',
  'model.request',
  'model.response',
  'tool.call',
  'tool.result',
  'template.warning',
  'input.required',
  'input.received',
  'workflow.failed',
  'workflow.canceled',
  'done',
] as const;

export type RunEventType = (typeof RUN_EVENT_TYPES)[number];
