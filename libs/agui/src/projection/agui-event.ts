import type { JsonObject, JsonValue } from '#libs/protocol';

/** Event of AG-UI, as it is sent. */
export interface AguiEvent extends JsonObject {
  type: string;
}

/** Question of a run that ended the turn (Interrupt of AG-UI). */
export interface Interrupt extends JsonObject {
  /** Id that names the Task, the question and the node instance that asks it (`interruptId`). */
  id: string;
  reason: 'input_required' | 'auth_required';
  message: string;
}

/** Returns the id of the interrupt for a question. @param sequence sequence of the event that opened the question */
export function interruptId(taskId: string, sequence: number, instance: string): string {
  return `${taskId}.${sequence}.${instance}`;
}

/** Parses the id of an interrupt; `undefined` for any other text. */
export function parseInterruptId(id: string): { taskId: string; sequence: number; instance: string } | undefined {
  const [, taskId, sequence, instance] = /^([^.\0]{1,256})\.(\d{1,10})\.([^\0]*)$/s.exec(id) ?? [];
  if (taskId === undefined || sequence === undefined || instance === undefined) return undefined;
  return { taskId, sequence: Number(sequence), instance };
}

/** Returns a JSON Pointer (RFC 6901) with the given segments. */
export function jsonPointer(...segments: readonly string[]): string {
  return segments.map((it) => `/${it.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Returns an operation of a JSON Patch (RFC 6902) that adds or replaces a member of an object. */
export function addOperation(path: string, value: JsonValue): JsonObject {
  return { op: 'add', path, value };
}
