import { randomBytes } from 'node:crypto';
import type { Artifact, JsonObject, JsonValue } from '#libs/protocol';
import { type SseFrame, SseReader } from './sse.js';
import { SAFETY_NET_MS, until } from './until.js';

export interface WorkflowNode {
  id: string;
  type: string;
  config?: JsonObject;
  position?: { x: number; y: number };
}

export interface Workflow {
  name: string;
  description?: string;
  nodes: WorkflowNode[];
  edges: { from: string; to: string }[];
  onFailure?: 'cancel' | 'continue';
}

interface RunNode {
  status: string;
  attempts: number;
  taskId?: string;
  agentUrl: string;
  waitsFor?: { state: string; message: string };
  artifacts: Artifact[];
  error?: unknown;
  startedAt?: string;
  finishedAt?: string;
}

export interface Run {
  runId: string;
  workflow: string;
  revision?: string;
  status: string;
  contextId: string;
  inputs: JsonObject;
  result?: Artifact[];
  error?: { node?: string; message: string };
  nodes: Record<string, RunNode>;
  state: JsonObject;
  artifacts: Record<string, Artifact[]>;
  createdAt: string;
  updatedAt: string;
}

export interface RunEvent {
  id?: string;
  type: string;
  runId: string;
  workflow: string;
  sequence: number;
  timestamp: string;
  node_id?: string;
  node_type?: string;
  payload: JsonObject;
  [flat: string]: unknown;
}

/** Returns a name that no other test uses. */
export function unique(prefix: string): string {
  return `${prefix}_${randomBytes(4).toString('hex')}`;
}

export const input = (id: string): WorkflowNode => ({ id, type: 'input' });
export const output = (id: string, config: JsonObject = {}): WorkflowNode => ({ id, type: 'output', config });
export const echo = (id: string, config: JsonObject = {}): WorkflowNode => ({ id, type: 'agent', config });
/**
 * Creates an `external` node for an agent at a URL. Its timeout is a safety net: the default of half a minute is too
 * short on a busy machine.
 */
export const external = (id: string, url: string, config: JsonObject = {}): WorkflowNode => ({
  id,
  type: 'external',
  config: { endpoint_url: url, timeout: 600, ...config },
});
/** Creates a `script` node that answers every Message with these steps. */
export const script = (id: string, ...steps: JsonObject[]): WorkflowNode => ({
  id,
  type: 'script',
  config: { script: { rules: [], otherwise: steps } },
});
/** Creates a `script` node with rules. */
export const ruled = (
  id: string,
  rules: JsonObject[],
  otherwise: JsonObject[] = [{ complete: 'otherwise' }],
): WorkflowNode => ({
  id,
  type: 'script',
  config: { script: { rules, otherwise } },
});
/** Creates a `script` node with these members of its card, which answers every Message with these steps. */
export const declaring = (id: string, agent: JsonObject, ...steps: JsonObject[]): WorkflowNode => ({
  id,
  type: 'script',
  config: { script: { agent, rules: [], otherwise: steps } },
});
/** Creates the steps of a script that answers with one text Artifact. */
export const says = (text: string): JsonObject[] => [{ artifact: { parts: [{ text }] } }, { complete: 'done' }];

/** Creates a workflow whose nodes form a chain. */
export function linear(name: string, ...nodes: WorkflowNode[]): Workflow {
  const edges = nodes.slice(1).map((node, index) => ({ from: nodes[index]?.id ?? '', to: node.id }));
  return { name, nodes, edges };
}

/** Creates a workflow in which `top` precedes every middle node, and these precede `bottom`. */
export function diamond(name: string, top: WorkflowNode, middle: WorkflowNode[], bottom: WorkflowNode): Workflow {
  const edges = [
    ...middle.map(({ id }) => ({ from: top.id, to: id })),
    ...middle.map(({ id }) => ({ from: id, to: bottom.id })),
  ];
  return { name, nodes: [top, ...middle, bottom], edges };
}

/** Client of the management API of one service. */
export class Api {
  /** @param headers headers of every call */
  constructor(
    readonly url: string,
    readonly headers: Record<string, string> = {},
  ) {}

  async call<T = JsonObject>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiReply<T>> {
    const response = await fetch(`${this.url}/api${path}`, {
      method,
      headers: { ...this.headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (text === '' ? undefined : jsonOr(text)) as T,
    };
  }

  /** Saves a new workflow; throws if it is refused. */
  async save(workflow: Workflow): Promise<Workflow> {
    const reply = await this.call('POST', '/workflows', workflow);
    if (reply.status !== 201) throw new Error(`Saving ${workflow.name} failed: ${reply.status} ${reply.text}`);
    return workflow;
  }

  /** Starts a run and returns its id. */
  async start(workflow: string, inputs: JsonObject = {}, headers: Record<string, string> = {}): Promise<string> {
    const reply = await this.call<{ runId: string }>('POST', `/workflows/${workflow}/runs`, { inputs }, headers);
    if (reply.status !== 202) throw new Error(`Starting ${workflow} failed: ${reply.status} ${reply.text}`);
    return reply.body.runId;
  }

  async run(runId: string): Promise<Run> {
    const reply = await this.call<Run>('GET', `/runs/${runId}`);
    if (reply.status !== 200) throw new Error(`Run ${runId}: ${reply.status} ${reply.text}`);
    return reply.body;
  }

  /** Saves a workflow, runs it to its end, and returns the run. */
  async finish(workflow: Workflow, inputs: JsonObject = {}, within = SAFETY_NET_MS): Promise<Run> {
    await this.save(workflow);
    return this.ended(await this.start(workflow.name, inputs), within);
  }

  /** Waits until a run has ended, and returns it. */
  ended(runId: string, within = SAFETY_NET_MS): Promise<Run> {
    return this.reached(runId, ['completed', 'failed', 'canceled'], within);
  }

  reached(runId: string, statuses: string[], within = SAFETY_NET_MS): Promise<Run> {
    const what = `run ${runId} to be ${statuses.join(' or ')}`;
    return until(
      async () => {
        const run = await this.run(runId);
        return statuses.includes(run.status) && run;
      },
      { within, what },
    );
  }

  /** Starts a run, and opens the stream of its events until `done`. */
  stream(workflow: string, inputs?: JsonObject): Promise<SseReader<RunEvent>> {
    return SseReader.open<RunEvent>(`${this.url}/api/workflows/${workflow}/run`, {
      method: 'POST',
      headers: this.headers,
      body: { inputs },
    });
  }

  events(runId: string, lastEventId?: string | number): Promise<SseReader<RunEvent>> {
    return SseReader.open<RunEvent>(`${this.url}/api/runs/${runId}/events`, { headers: this.headers, lastEventId });
  }

  /** Saves a workflow, runs it once, and returns all frames of the run. */
  async trace(workflow: Workflow, inputs: JsonObject = {}): Promise<SseFrame<RunEvent>[]> {
    await this.save(workflow);
    return (await this.stream(workflow.name, inputs)).all();
  }

  base(workflow: string, node?: string): string {
    return `${this.url}/a2a/workflows/${workflow}${node === undefined ? '' : `/nodes/${node}`}`;
  }
}

export interface ApiReply<T> {
  status: number;
  headers: Headers;
  text: string;
  body: T;
}

/** Returns an event as `type:node`, for comparisons of whole sequences. */
export function step(frame: SseFrame<RunEvent>): string {
  return frame.data.node_id === undefined ? `${frame.event}` : `${frame.event}:${frame.data.node_id}`;
}

/** Returns the first text in a list of Artifacts. */
export function textOf(artifacts: readonly Artifact[] | undefined): string | undefined {
  return artifacts?.[0]?.parts.find((part) => part.text !== undefined)?.text;
}

function jsonOr(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
