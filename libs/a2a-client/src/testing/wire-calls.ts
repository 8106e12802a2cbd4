import type { ServerResponse } from 'node:http';
import { OutboundHttp } from '#libs/http-client';
import { type JsonObject, type JsonValue, type Message, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { WireAgent, type WireCard, type WireRequest } from '../../../../test/support/wire-agent.js';
import { type AgentCallOptions, CalledTask } from '../agent-client.js';
import { HttpAgentDirectory } from '../http-agent-directory.js';

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
/** Directory of all calls. */
export const directory = new HttpAgentDirectory({ http });
const agents: WireAgent[] = [];

/** Ends the agents after each test, and the connections after all of them. Call it once in a file. */
export function useWireAgents(): void {
  afterEach(() => Promise.all(agents.splice(0).map((it) => it.stop())));
  afterAll(() => http.close());
}

/** Answers a request of the client. */
export type Answering = (request: WireRequest, response: ServerResponse) => void;

/** Starts an agent that answers each request in the given way. */
export async function agentOf(card: WireCard, answer: Answering): Promise<WireAgent> {
  const agent = await WireAgent.start(card, (response, request) => answer(request, response));
  agents.push(agent);
  return agent;
}

/** Sends a Message, and returns the answer as its caller gets it. */
export async function callAgent(
  agent: WireAgent,
  message: Partial<Message> = {},
  options: AgentCallOptions = {},
): Promise<CalledTask> {
  const task = new CalledTask();
  const client = await directory.resolveClient(agent.url);
  for await (const event of client.sendMessage({ message: { ...userMessage('hello'), ...message } }, options))
    task.applyResponse(event);
  return task;
}

/** Calls an agent that answers with the results as its stream. */
export async function callStreaming(results: readonly JsonValue[]): Promise<CalledTask> {
  const agent = await agentOf({ streaming: true }, (request, response) => streamResults(request, response, results));
  return callAgent(agent);
}

/** Answers with a stream of JSON-RPC results. */
export function streamResults({ body }: WireRequest, response: ServerResponse, results: readonly JsonValue[]): void {
  const events = results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: body?.id, result })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));
}

/** Answers with one JSON-RPC response. @param answer its result or error */
export function answerRpc({ body }: WireRequest, response: ServerResponse, answer: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: body?.id, ...answer }));
}

export const place = { taskId: 't', contextId: 'c' };
export const states = { working: 'TASK_STATE_WORKING', completed: 'TASK_STATE_COMPLETED' };
export const said = (text: string, members: JsonObject = {}): JsonObject => ({
  messageId: `m-${text}`,
  role: 'ROLE_AGENT',
  parts: [{ text }],
  ...members,
});
export const status = (state: string, message?: JsonObject): JsonObject => ({
  statusUpdate: { ...place, status: { state, ...(message && { message }) } },
});
export const task = (state: string, members: JsonObject = {}): JsonObject => ({
  task: { id: 't', contextId: 'c', status: { state }, ...members },
});
export const textsOf = ({ artifacts }: CalledTask) =>
  artifacts.map(({ parts }) => parts.map(({ text }) => text).join(''));
