import type { SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import type { LocalAgents } from './local-agents.js';

/** Reaches an agent of this process. It sends no heartbeats, so silence has no limit of its own. */
export class LocalTransport implements AgentTransport {
  readonly streaming = true;
  readonly timeouts = { connect: Infinity, firstEvent: Infinity, idle: Infinity };

  constructor(
    private readonly agents: LocalAgents,
    private readonly path: string,
  ) {}

  send(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    return this.agents.send(this.path, request, options);
  }

  subscribe(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    return this.agents.subscribe(this.path, { id: taskId }, options);
  }

  getTask(taskId: string, options: TransportOptions): Promise<Task> {
    return this.agents.getTask(this.path, { id: taskId }, options);
  }

  cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    return this.agents.cancelTask(this.path, { id: taskId }, options);
  }
}
