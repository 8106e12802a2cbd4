import type { JsonObject } from '#libs/protocol';
import { addOperation, type AguiEvent, jsonPointer } from './agui-event.js';

/** Statuses of nodes whose step is open. */
const ACTIVE: ReadonlySet<string> = new Set(['running', 'retrying', 'waiting', 'input-required']);

/** Nodes of a run as a client sees them: a step for each active instance, and its status in the state. */
export class NodeSteps {
  private readonly statuses = new Map<string, string>();
  private readonly steps = new Set<string>();

  /** Statuses of all instances, by name. */
  get nodes(): JsonObject {
    return Object.fromEntries(this.statuses);
  }

  /** Returns the operation that changes the status of an instance in the state of the client. */
  setStatus(instance: string, status: string): JsonObject {
    this.statuses.set(instance, status);
    return addOperation(jsonPointer('parley', 'nodes', instance), status);
  }

  /** Returns the event that starts the step of an instance; none while the step is open. */
  startStep(instance: string): AguiEvent[] {
    if (this.steps.has(instance)) return [];
    this.steps.add(instance);
    return [{ type: 'STEP_STARTED', stepName: instance }];
  }

  /** Returns the event that ends the step of an instance; none if the step is not open. */
  finishStep(instance: string): AguiEvent[] {
    return this.steps.delete(instance) ? [{ type: 'STEP_FINISHED', stepName: instance }] : [];
  }

  /** Returns the events that start the steps of all active instances, at the start of a turn. */
  reopenSteps(): AguiEvent[] {
    this.steps.clear();
    return [...this.statuses].flatMap(([instance, status]) => (ACTIVE.has(status) ? this.startStep(instance) : []));
  }

  /** Returns the events that end all open steps, the newest first. */
  finishAll(): AguiEvent[] {
    return [...this.steps].toReversed().flatMap((instance) => this.finishStep(instance));
  }
}
