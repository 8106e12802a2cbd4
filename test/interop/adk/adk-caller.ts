import { type Event, InMemoryRunner, RemoteA2AAgent } from '@google/adk';

/** A user of ADK who talks to a remote agent, in one session. */
export class AdkCaller {
  private readonly runner: InMemoryRunner;
  private session: Promise<{ id: string }> | undefined;

  /** @param agentCard what ADK is given: the agent's base URL, for one */
  constructor(agentCard: string) {
    this.runner = new InMemoryRunner({ agent: new RemoteA2AAgent({ name: 'parley', agentCard }), appName: 'interop' });
  }

  /** Says something, and gives every event of the answer. */
  say(text: string): Promise<Event[]> {
    return Array.fromAsync(this.events(text));
  }

  /** The same, each event as it comes. */
  async *events(text: string): AsyncGenerator<Event, void> {
    const userId = 'user';
    this.session ??= this.runner.sessionService.createSession({ appName: 'interop', userId });
    const { id: sessionId } = await this.session;
    yield* this.runner.runAsync({ userId, sessionId, newMessage: { role: 'user', parts: [{ text }] } });
  }
}

/** The texts of events. */
export function textsOf(events: readonly Event[]): string[] {
  return events.map(({ content }) => (content?.parts ?? []).map(({ text }) => text ?? '').join(''));
}
