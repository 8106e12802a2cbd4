import { isActiveState, type SendMessageRequest, type StreamResponse } from '#libs/protocol';
import type { CallOptions } from './agent-client.js';
import type { CallOutcomes } from './call-outcomes.js';
import type { LocalAgents } from './local-agents.js';
import { LocalTransport } from './local-transport.js';
import { TransportAgentClient } from './transport-agent-client.js';

/**
 * Calls an agent of this process. Without a socket there is nothing to retry and no silence to end, so a call that names
 * no limit reads the agent's events with nothing in between.
 */
export class LocalAgentClient extends TransportAgentClient {
  constructor(
    url: string,
    private readonly agents: LocalAgents,
    private readonly path: string,
    private readonly counted: CallOutcomes,
  ) {
    super(url, undefined, new LocalTransport(agents, path), counted);
  }

  override send(request: SendMessageRequest, options: CallOptions = {}): AsyncIterable<StreamResponse> {
    if (options.timeouts !== undefined) return super.send(request, options);
    return this.counted.countedStream(this.#read(request, options));
  }

  async *#read(request: SendMessageRequest, options: CallOptions): AsyncIterable<StreamResponse> {
    let taskId: string | undefined;
    for await (const event of this.agents.send(this.path, request, options)) {
      if ('task' in event) taskId = event.task.id;
      yield event;
      if (endsTurn(event)) return;
    }
    options.signal?.throwIfAborted();
    // This process stopped working on the Task: whoever took it over is followed through the log.
    if (taskId !== undefined) yield* super.follow(taskId, options);
  }
}

function endsTurn(event: StreamResponse): boolean {
  return 'message' in event || ('statusUpdate' in event && !isActiveState(event.statusUpdate.status.state));
}
