import { Agent, request } from 'node:http';

/** Order to a separate process: the number of concurrent Messages, and of characters of each. */
export interface LargeMessagesJob {
  /** JSON-RPC endpoint of an agent. */
  url: string;
  key: string;
  messages: number;
  characters: number;
}

export interface LargeMessagesResult {
  /** Number of answers by HTTP status, and of broken connections by error code. */
  statuses: Record<string, number>;
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

process.once('message', (job: LargeMessagesJob) => {
  void sendAll(job).then((result) => process.send?.(result));
});

async function sendAll({ url, key, messages, characters }: LargeMessagesJob): Promise<LargeMessagesResult> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x'.repeat(characters) }] };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }));
  const outcomes = await Promise.all(Array.from({ length: messages }, () => send(url, key, body)));
  const statuses: Record<string, number> = {};
  for (const outcome of outcomes) statuses[outcome] = (statuses[outcome] ?? 0) + 1;
  return { statuses };
}

function send(url: string, key: string, body: Buffer): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    'a2a-version': '1.0',
    authorization: `Bearer ${key}`,
  };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().once('end', () => resolve(String(answer.statusCode)));
      answer.once('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? error.message));
    });
    sent.once('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? error.message));
    sent.end(body);
  });
}
