import type { JsonObject, JsonValue } from '#libs/protocol';

/** A Task as the pre-1.0 dialect has it. */
export interface Pre10Task {
  id: string;
  contextId?: string;
  status: string;
  messages?: { role: string; parts: Pre10Part[] }[];
  artifacts?: { name?: string; parts: Pre10Part[]; index: number }[];
}

export interface Pre10Part {
  type: string;
  text?: string;
  data?: JsonValue;
  mimeType: string;
}

const STATUSES = ['created', 'working', 'input-required', 'completed', 'failed', 'canceled'];

/** A client of the pre-1.0 dialect, written from its description. It fails on an answer of any other shape. */
export class Pre10Client {
  private requests = 0;

  constructor(
    private readonly url: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  /** The card at `{url}/agent-card`. */
  async card(): Promise<JsonObject & { url: string }> {
    const response = await fetch(`${this.url}/agent-card`, { headers: this.headers });
    if (response.status !== 200) throw new Error(`The card: HTTP ${response.status}`);
    const card = (await response.json()) as JsonObject & { url: string };
    for (const member of ['name', 'description', 'url'])
      if (typeof card[member] !== 'string') throw new Error(`The card has no ${member}`);
    for (const member of ['skills', 'defaultInputModes', 'defaultOutputModes'])
      if (!Array.isArray(card[member])) throw new Error(`The card has no ${member}`);
    return card;
  }

  /** Sends a Message to the URL that the card names. @throws `a2a error <code>: <message>` */
  async send(parts: Pre10Part[], fields: { taskId?: string; contextId?: string } = {}): Promise<Pre10Task> {
    const { url } = await this.card();
    this.requests += 1;
    const message = { role: 'user', parts, ...fields };
    const configuration = { acceptedOutputModes: ['text/plain', 'application/json'], blocking: true };
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headers },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: this.requests,
        method: 'a2a.sendMessage',
        params: { message, configuration },
      }),
    });
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
    return this.taskOf((await response.json()) as JsonObject);
  }

  private taskOf({ jsonrpc, id, result, error }: JsonObject): Pre10Task {
    if (jsonrpc !== '2.0' || id !== this.requests) throw new Error('It answers another request');
    if (error !== undefined) {
      const { code, message } = error as { code: number; message: string };
      throw new Error(`a2a error ${code}: ${message}`);
    }
    const task = result as unknown as Pre10Task;
    if (typeof task.id !== 'string' || !STATUSES.includes(task.status)) throw new Error(JSON.stringify(task));
    const parts = [...(task.messages ?? []), ...(task.artifacts ?? [])].flatMap((it) => it.parts);
    for (const part of parts)
      if (typeof part.mimeType !== 'string' || !(part.type in part)) throw new Error(JSON.stringify(part));
    if (task.artifacts?.some(({ index }, place) => index !== place)) throw new Error(JSON.stringify(task.artifacts));
    return task;
  }
}
