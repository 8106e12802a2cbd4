import type { JsonObject } from '#libs/protocol';
import type { StoredLog } from '../../support/stored-log.js';

/** History of one node, as the log of a run records it. */
export interface NodeHistory {
  run: string;
  node: string;
  /** Id of the Message to the node's agent. */
  messageId: string | undefined;
  /** Time at which the log recorded that this Message would be sent, by the database's clock. */
  sendingAt: Date | undefined;
  /** Times at which the log recorded `node.completed`. */
  completedAt: Date[];
}

const NOTHING = { messageId: undefined, sendingAt: undefined };

interface Note {
  type: string;
  node_id?: string;
  payload?: JsonObject;
}

/** Returns the histories of a run's nodes; an empty list for a Task that is no run. */
export function nodeHistories({ taskId, events }: StoredLog): NodeHistory[] {
  const nodes = new Map<string, NodeHistory>();
  for (const { json, at } of events) {
    const note = noteOf(json);
    if (note?.node_id === undefined) continue;
    const known = nodes.get(note.node_id) ?? { ...NOTHING, run: taskId, node: note.node_id, completedAt: [] };
    nodes.set(note.node_id, known);
    if (note.type === 'a2a.sending' && note.payload?.messageId !== known.messageId) {
      known.messageId = note.payload?.messageId as string | undefined;
      known.sendingAt = new Date(at);
    }
    if (note.type === 'node.completed') known.completedAt.push(new Date(at));
  }
  return [...nodes.values()];
}

function noteOf(json: string): Note | undefined {
  const event = JSON.parse(json) as Record<string, { metadata?: Record<string, Note> }>;
  return Object.values(event)[0]?.metadata?.['parley/event'];
}
