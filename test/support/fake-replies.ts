import type { ServerResponse } from 'node:http';
import type { JsonObject, StreamResponse, Task } from '#libs/protocol';
import type { FakeTask } from './fake-task.js';

/** Request to answer: its JSON-RPC id is repeated in the response. */
interface Answered {
  body: JsonObject | undefined;
}

/** Yields a Task as a snapshot, then its events. */
export async function* snapshotThen(task: FakeTask): AsyncIterable<StreamResponse> {
  const from = task.length;
  yield { task: structuredClone(task.task) };
  yield* task.follow(from);
}

/** Yields the Task of the previous turn, if there is one, then the events of this turn. */
export async function* storedThen(
  stored: Task | undefined,
  events: AsyncIterable<StreamResponse>,
): AsyncIterable<StreamResponse> {
  if (stored) yield { task: stored };
  yield* events;
}

/** Sends events as a stream. */
export async function sendEvents(
  response: ServerResponse,
  call: Answered,
  events: AsyncIterable<StreamResponse> | StreamResponse[],
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  for await (const event of events) {
    if (response.destroyed || response.writableEnded) return;
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: call.body?.id ?? null, result: event })}\n\n`);
  }
  response.end();
}

/** Ends an event stream with a JSON-RPC error. */
export function streamError(response: ServerResponse, call: Answered, error: { code: number; message: string }): void {
  response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: call.body?.id ?? null, error })}\n\n`);
}

/** Sends a JSON-RPC result. */
export function result(response: ServerResponse, call: Answered, value: unknown): void {
  reply(response, { jsonrpc: '2.0', id: call.body?.id ?? null, result: value });
}

/** Sends a JSON-RPC error. */
export function rpcError(
  response: ServerResponse,
  call: Answered,
  code: number,
  message: string,
  data?: JsonObject[],
): void {
  reply(response, {
    jsonrpc: '2.0',
    id: call.body?.id ?? null,
    error: { code, message, ...(data !== undefined && { data }) },
  });
}

function reply(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
