import type { JsonObject, Task } from '#libs/protocol';
import { outline, sendParams } from './a2a.js';
import { bindingsOf } from './bindings.js';
import type { Endpoints, OpenStream, WireBinding } from './wire-binding.js';
import { type SharedStage, useSharedStage } from './shared-stage.js';
import { declaring, echo, ruled, script, unique, type Workflow } from './workflow.js';

/** Service with gRPC on, and one agent for each way in which a Task may proceed. */
export interface BindingsStage {
  readonly stage: SharedStage;
  readonly endpoints: Endpoints;
  readonly workflow: string;
  /** Names and bindings, as rows for `describe.each`. */
  readonly table: (readonly [name: string, binding: WireBinding])[];
  /** Returns the path of a node's agent. */
  at(node: string): string;
  /** Sends a text by SendMessage, and returns the Task. Throws if the Message is refused. */
  send(binding: WireBinding, node: string, text: string, configuration?: JsonObject): Promise<Task>;
}

/** URI of the extension that the agent `demanding` requires of its callers. */
export const DEMANDED = 'https://example.com/demanded/v1';

interface Card {
  supportedInterfaces: { url: string; protocolBinding: string }[];
}

export function useBindings(): BindingsStage {
  const stage = useSharedStage({ env: { GRPC_PORT: '0' } });
  const endpoints: Endpoints = { url: '', grpc: '' };
  const workflow = unique('bind');
  const at = (node: string): string => `workflows/${workflow}/nodes/${node}`;
  beforeAll(async () => {
    await stage.api.save(everyWay(workflow));
    const card = (await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json()) as Card;
    endpoints.url = stage.parley.url;
    endpoints.grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
  });
  return {
    stage,
    endpoints,
    workflow,
    table: bindingsOf(() => endpoints).map((it) => [it.name, it] as const),
    at,
    send: async (binding, node, text, configuration) => {
      const params = sendParams(text, { ...(configuration && { configuration }) });
      const { result, error } = await binding.call<{ task: Task }>(at(node), 'SendMessage', params);
      if (!result) throw new Error(`${binding.name}: ${JSON.stringify(error)}`);
      return result.task;
    },
  };
}

/** Reads a stream to its end, and returns the outline of each event. */
export async function outlines({ items }: OpenStream): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of items) seen.push(outline(item));
  return seen;
}

function everyWay(name: string): Workflow {
  const late = { artifact: { parts: [{ text: 'late' }] } };
  return {
    name,
    nodes: [
      echo('echo'),
      script('parts', { echo: true }, { complete: 'done' }),
      script('slow', { status: 'working', text: 'on it' }, { sleep: 60_000 }, { complete: 'done' }),
      script('short', { status: 'working' }, { sleep: 300 }, late, { complete: 'done' }),
      script('direct', { reply: [{ text: 'no task needed' }] }),
      script('fails', { fail: 'no luck' }),
      script('throws', { throw: 'INVALID_AGENT_RESPONSE', text: 'no sense in {{text}}' }),
      declaring('modest', { streaming: false, pushNotifications: false }, { ask: 'more?' }),
      declaring('demanding', { extensions: [{ uri: DEMANDED, required: true }] }, { complete: 'done' }),
      declaring('pictures', { inputModes: ['image/*'] }, { echo: true }, { complete: 'done' }),
      ruled('authorizes', [
        { when: { turn: 1 }, steps: [{ authorize: 'log in first' }] },
        { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
      ]),
      ruled('asks', [
        { when: { turn: 1 }, steps: [{ ask: 'more?' }] },
        { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
      ]),
    ],
    edges: [],
  };
}
