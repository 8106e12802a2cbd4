/** Service that an attack is aimed at. */
export interface Target {
  /** Base URL without a trailing slash. */
  url: string;
  /** URL of the gRPC listener, `http://host:port`. */
  grpc: string;
  /** Headers with the credentials of the attacker. */
  headers: Record<string, string>;
  /** Base URL of the attacker's own servers (see `hostile-peers.ts`). */
  peers: string;
  /** URLs of webhooks that accept a connection and never answer, each of a different origin. */
  hooks: string[];
}

/**
 * Attack that runs until the signal is aborted, and then ends what it has started. It expects refusals, and throws no
 * error for them.
 */
export type Attack = (target: Target, signal: AbortSignal) => Promise<void>;

/** Sends a request as the attacker. @returns the answer; `status` 0 without an answer */
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

/** Creates a SendMessage call over JSON-RPC. */
export function messageCall(text: string, configuration: object = {}): object {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  return { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } };
}

/** Repeats work, `atOnce` executions at a time, until the signal is aborted. */
export async function repeat(signal: AbortSignal, atOnce: number, work: () => Promise<unknown>): Promise<void> {
  const one = async (): Promise<void> => {
    while (!signal.aborted) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Starts a run. @returns its id; an empty text if it is refused */
export async function startRun(target: Target, workflow: string, inputs: object): Promise<string> {
  const { body } = await ask(target, `/api/workflows/${workflow}/runs`, { inputs });
  return typeof body['runId'] === 'string' ? body['runId'] : '';
}

export async function cancelRuns(target: Target, runIds: readonly string[]): Promise<void> {
  await Promise.all(runIds.filter((id) => id !== '').map((id) => ask(target, `/api/runs/${id}/cancel`, {})));
}
