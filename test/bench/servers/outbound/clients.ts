import { join } from 'node:path';
import { Role, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import { Agent, request } from 'undici';
import { ROOT } from '../bench-server.ts';

/** Function that makes one blocking SendMessage and returns the state of the Task, which should be `completed`. */
type Call = () => Promise<string>;

const CARD_PATH = '/.well-known/agent-card.json';
const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };
const COMPLETED = 'TASK_STATE_COMPLETED';
let counted = 0;

/** Functions that create a client, by the value of CLIENT. */
export const callers: Record<string, (agentUrl: string) => Promise<Call>> = {
  'parley-resolved': async (url) => {
    const directory = await parleyDirectory();
    return async () => parleyCall(await directory.resolveClient(url));
  },
  'parley-kept': async (url) => {
    const client = await (await parleyDirectory()).resolveClient(url);
    return () => parleyCall(client);
  },
  'sdk-resolved': async (url) => async () => sdkCall(await new ClientFactory().createFromUrl(url, CARD_PATH)),
  'sdk-kept': async (url) => {
    const client = await new ClientFactory().createFromUrl(url, CARD_PATH);
    return () => sdkCall(client);
  },
  undici: async (url) => {
    const dispatcher = new Agent();
    return async () => {
      const options = { method: 'POST' as const, headers: HEADERS, body: rawBody(), dispatcher };
      return stateOf(await (await request(`${url}/rpc`, options)).body.text());
    };
  },
  fetch: async (url) => async () =>
    stateOf(await (await fetch(`${url}/rpc`, { method: 'POST', headers: HEADERS, body: rawBody() })).text()),
};

interface ParleyClient {
  sendMessage(request: object): AsyncIterable<{ task?: { status: { state: string } } }>;
}

/** Loads Parley's own client from the build, configured as in the service. */
async function parleyDirectory(): Promise<{ resolveClient(url: string): Promise<ParleyClient> }> {
  const { HttpAgentDirectory } = await import(join(ROOT, 'dist/libs/a2a-client/src/index.js'));
  const { OutboundHttp } = await import(join(ROOT, 'dist/libs/http-client/src/index.js'));
  const { loadConfig } = await import(join(ROOT, 'dist/libs/service/src/index.js'));
  return new HttpAgentDirectory({ http: new OutboundHttp(loadConfig({ OUTBOUND_ALLOW: '127.0.0.1' })) });
}

async function parleyCall(client: ParleyClient): Promise<string> {
  let state = 'nothing';
  for await (const { task } of client.sendMessage({
    message: { messageId: newId(), role: 'ROLE_USER', parts: PARTS },
  })) {
    if (task) state = task.status.state;
  }
  return state === COMPLETED ? 'completed' : state;
}

async function sdkCall(client: Client): Promise<string> {
  const message = {
    messageId: newId(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text' as const, value: 'hello' }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const result = await client.sendMessage({ tenant: '', message, configuration: undefined, metadata: undefined });
  const done = 'status' in result && result.status?.state === TaskState.TASK_STATE_COMPLETED;
  return done ? 'completed' : JSON.stringify(result);
}

const PARTS = [{ text: 'hello' }];

function rawBody(): string {
  const message = { messageId: newId(), role: 'ROLE_USER', parts: PARTS };
  return JSON.stringify({ jsonrpc: '2.0', id: counted, method: 'SendMessage', params: { message } });
}

function stateOf(text: string): string {
  const answer = JSON.parse(text) as { result?: { task?: { status: { state: string } } } };
  return answer.result?.task?.status.state === COMPLETED ? 'completed' : text;
}

function newId(): string {
  counted += 1;
  return `m${counted}`;
}
