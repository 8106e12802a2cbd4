import { parseInstanceName } from './instance-name.js';
import { pickTexts } from './node-picture.js';
import type { RunEvent } from './run-event.js';

/**
 * Kind of a part of a node's time: the execution of a list entry (`entry`), a call of a model or tool, the pause before
 * a retry, or another wait.
 */
export type PartKind = 'entry' | 'model' | 'tool' | 'retry' | 'wait';

/** A part of a node's time, as the events of the run report it. */
export interface TimelinePart {
  kind: PartKind;
  node: string;
  /** Name of the instance that the part belongs to; the node's id if the node runs once. */
  instance: string;
  label: string;
  /** Begin in ISO 8601; `to` is the end, absent while the part is open. */
  from: string;
  to?: string;
  status: string;
  error?: string;
}

/** Key in place of a call's id, for calls without an id. An instance has at most one such call at a time. */
const ONLY = '';

/**
 * Folds the events of a run into the parts of its nodes.
 * - A part begins and ends at the timestamps of its events.
 * - A part whose end no event reports is closed as `canceled`: when the same call or wait begins again, when its
 *   instance ends or is retried, and at the latest when the run ends.
 */
export class TimelineFold {
  readonly #parts: TimelinePart[] = [];
  /** Open parts by the name of their instance, then by kind and id of the call. */
  readonly #open = new Map<string, Map<string, TimelinePart>>();

  /** Returns the parts so far, in the order of their begin. */
  snapshot(): readonly TimelinePart[] {
    return this.#parts.map((part) => ({ ...part }));
  }

  foldEvent(event: RunEvent): void {
    const { type, node_id: node, timestamp } = event;
    if (type === 'done') for (const name of [...this.#open.keys()]) this.#closeAll(name, 'canceled', timestamp);
    if (node === undefined) return;
    const name = event.instance ?? node;
    if (type.startsWith('model.')) this.#foldModel(name, event);
    else if (type.startsWith('tool.')) this.#foldTool(name, event);
    else this.#foldNode(name, event);
  }

  #foldModel(name: string, { type, payload, timestamp }: RunEvent): void {
    const { message } = pickTexts(payload, 'message');
    if (type === 'model.request') {
      this.#close(name, 'model', ONLY, 'canceled', timestamp);
      const step = payload['step'] === undefined ? '' : `, step ${toPlainText(payload['step'])}`;
      this.#begin(name, 'model', ONLY, `${toPlainText(payload['model'])}${step}`, timestamp);
    } else if (type === 'model.response') this.#close(name, 'model', ONLY, 'completed', timestamp);
    else if (type === 'model.error') this.#close(name, 'model', ONLY, 'failed', timestamp, message);
  }

  #foldTool(name: string, { type, payload, timestamp }: RunEvent): void {
    const id = typeof payload['id'] === 'string' ? payload['id'] : ONLY;
    const { error } = pickTexts(payload, 'error');
    if (type === 'tool.call') {
      this.#close(name, 'wait', ONLY, 'completed', timestamp);
      // A call that was cut off is made again.
      this.#close(name, 'tool', id, 'canceled', timestamp);
      this.#begin(name, 'tool', id, toPlainText(payload['tool']), timestamp);
    } else if (type === 'tool.result')
      this.#close(name, 'tool', id, error === undefined ? 'completed' : 'failed', timestamp, error);
    else if (type === 'tool.canceled') this.#close(name, 'tool', id, 'canceled', timestamp);
  }

  #foldNode(name: string, { type, payload, timestamp }: RunEvent): void {
    switch (type) {
      case 'node.started':
        this.#close(name, 'retry', ONLY, 'completed', timestamp);
        if (parseInstanceName(name).index !== undefined) this.#begin(name, 'entry', ONLY, name, timestamp);
        return;
      case 'node.waiting':
        return this.#begin(name, 'wait', ONLY, 'Wait', timestamp);
      case 'a2a.received':
        if (Array.isArray(payload['question'])) this.#begin(name, 'wait', ONLY, 'Wait for an answer', timestamp);
        return;
      case 'a2a.sending':
      case 'node.resumed':
        return this.#close(name, 'wait', ONLY, 'completed', timestamp);
      case 'node.retrying': {
        this.#closeAll(name, 'failed', timestamp);
        const { attempt } = payload;
        const next = typeof attempt === 'number' ? ` ${attempt + 1}` : '';
        return this.#begin(name, 'retry', ONLY, `Wait for attempt${next}`, timestamp);
      }
      case 'node.completed':
        return this.#closeAll(name, 'completed', timestamp);
      case 'node.error':
        return this.#closeAll(name, 'failed', timestamp);
      case 'node.canceled':
        return this.#closeAll(name, 'canceled', timestamp);
      default:
    }
  }

  #begin(instance: string, kind: PartKind, id: string, label: string, from: string): void {
    this.#close(instance, kind, id, 'canceled', from);
    const { node } = parseInstanceName(instance);
    const status = kind === 'wait' || kind === 'retry' ? 'input-required' : 'running';
    const part: TimelinePart = { kind, node, instance, label, from, status };
    this.#parts.push(part);
    const open = this.#open.get(instance) ?? new Map<string, TimelinePart>();
    this.#open.set(instance, open.set(`${kind} ${id}`, part));
  }

  #close(name: string, kind: PartKind, id: string, status: string, to: string, error?: string): void {
    const open = this.#open.get(name);
    const part = open?.get(`${kind} ${id}`);
    if (!part) return;
    Object.assign(part, { status, to, ...(error !== undefined && { error }) });
    open?.delete(`${kind} ${id}`);
  }

  /**
   * Closes the open parts of an instance when the instance ends or is retried. A call that is still open then gets the
   * status `canceled`, because no event has reported its end.
   */
  #closeAll(name: string, status: string, to: string): void {
    for (const part of this.#open.get(name)?.values() ?? []) {
      const isCall = part.kind === 'model' || part.kind === 'tool';
      const isOver = part.kind === 'entry' || (!isCall && status === 'completed');
      Object.assign(part, { to, status: isOver ? status : 'canceled' });
    }
    this.#open.delete(name);
  }
}

/** Returns a text or number as text, and any other value as `''`: remote agents may send anything. */
function toPlainText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
