/** What an attack is aimed at. */
export interface Target {
  /** Without a slash at the end. */
  url: string;
  /** `http://host:port` of the gRPC listener. */
  grpc: string;
  /** The credentials of the attacker. */
  headers: Record<string, string>;
  /** Where the attacker's own servers listen (see `hostile-peers.ts`). */
  peers: string;
  /** Hooks that take a connection and never answer, at origins of their own. */
  hooks: string[];
}

/** Goes on until the signal is aborted, and ends what it has started then. Refusals are what it expects: it throws none. */
export type Attack = (target: Target, signal: AbortSignal) => Promise<void>;

/** Answers a request as the attacker; `status` 0 where there is no answer. */
export async function ask(
  { url, headers }: Target,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<{ status: number; body: Record<string, unknown> }> {
  try {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'a2a-version': '1.0' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} };
  } catch {
    return { status: 0, body: {} };
  }
}

/** A SendMessage call over JSON-RPC. */
export function messageCall(text: string, configuration: object = {}): object {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  return { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } };
}

/** Repeats something a few at a time until the signal is aborted. */
export async function repeat(signal: AbortSignal, atOnce: number, work: () => Promise<unknown>): Promise<void> {
  const one = async (): Promise<void> => {
    while (!signal.aborted) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Resolves as the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Starts a run; its id is empty where it is refused. */
export async function startRun(target: Target, workflow: string, inputs: object): Promise<string> {
  const { body } = await ask(target, `/api/workflows/${workflow}/runs`, { inputs });
  return typeof body['runId'] === 'string' ? body['runId'] : '';
}

export async function cancelRuns(target: Target, runIds: readonly string[]): Promise<void> {
  await Promise.all(runIds.filter((id) => id !== '').map((id) => ask(target, `/api/runs/${id}/cancel`, {})));
}
