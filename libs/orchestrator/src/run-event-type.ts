import { isJsonObject, type RunEventNote } from '#libs/protocol';

/** Steps of a run that its streams report. */
export const RUN_EVENT_TYPES = [
  'node.started',
  'a2a.sending',
  'a2a.received',
  'node.completed',
  'node.error',
  'node.canceled',
  'model.request',
  'model.response',
  'model.error',
  'tool.call',
  'tool.called',
  'tool.result',
  'tool.canceled',
  'template.warning',
  'number.rounded',
  'parts.left-out',
  'node.progress',
  'node.skipped',
  'node.retrying',
  'node.waiting',
  'node.resumed',
  'node.reused',
  'edge.error',
  'each.started',
  'loop.next',
  'loop.ended',
  'result.emptied',
  'input.required',
  'input.received',
  'run.parked',
  'run.woken',
  'run.nearly-full',
  'run.deadline',
  'run.ending',
  'workflow.failed',
  'workflow.canceled',
  'done',
] as const;

export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

const FORWARDED_STEPS = new Set([
  'model.request',
  'model.response',
  'model.error',
  'tool.call',
  'tool.called',
  'tool.result',
  'tool.canceled',
]);

/**
 * True for a step of a child that its run forwards, including the progress of agents that the child called as tools.
 */
export function isForwardedStep({ type, payload }: RunEventNote): boolean {
  if (!isJsonObject(payload)) return false;
  return FORWARDED_STEPS.has(type) || (type === 'node.progress' && typeof payload['tool'] === 'string');
}
