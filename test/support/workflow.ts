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

/** A name that no other test uses. */
export function unique(prefix: string): string {
  return `${prefix}_${randomBytes(4).toString('hex')}`;
}

export const input = (id: string): WorkflowNode => ({ id, type: 'input' });
export const output = (id: string, config: JsonObject = {}): WorkflowNode => ({ id, type: 'output', config });
export const echo = (id: string, config: JsonObject = {}): WorkflowNode => ({ id, type: 'agent', config });
/** Its time is a safety net: the half a minute that it has by itself is over soon on a busy machine. */
export const external = (id: string, url: string, config: JsonObject = {}): WorkflowNode => ({
  id,
  type: 'external',
  config: { endpoint_url: url, timeout: 600, ...config },
});
/** A script node that answers every Message with these steps. */
export const script = (id: string, ...steps: JsonObject[]): WorkflowNode => ({
  id,
  type: 'script',
  config: { script: { rules: [], otherwise: steps } },
});
/** A script node with rules. */
export const ruled = (
  id: string,
  rules: JsonObject[],
  otherwise: JsonObject[] = [{ complete: 'otherwise' }],
): WorkflowNode => ({
  id,
  type: 'script',
  config: { script: { rules, otherwise } },
});
/** A script node whose card says this, and that answers every Message with these steps. */
export const declaring = (id: string, agent: JsonObject, ...steps: JsonObject[]): WorkflowNode => ({
  id,
  type: 'script',
  config: { script: { agent, rules: [], otherwise: steps } },
});
/** Steps of a script that answers with one text Artifact. */
export const says = (text: string): JsonObject[] => [{ artifact: { parts: [{ text }] } }, { complete: 'done' }];

/** Nodes in a row, each the parent of the next. */
export function linear(name: string, ...nodes: WorkflowNode[]): Workflow {
  const edges = nodes.slice(1).map((node, index) => ({ from: nodes[index]?.id ?? '', to: node.id }));
  return { name, nodes, edges };
}

/** `top` before every node of the middle, and all of them before `bottom`. */
export function diamond(name: string, top: WorkflowNode, middle: WorkflowNode[], bottom: WorkflowNode): Workflow {
  const edges = [
    ...middle.map(({ id }) => ({ from: top.id, to: id })),
    ...middle.map(({ id }) => ({ from: id, to: bottom.id })),
  ];
  return { name, nodes: [top, ...middle, bottom], edges };
}

/** The management API of one service. */
export class Api {
  /** @param headers sent with every call */
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

  /** Saves a new workflow; throws where it is refused. */
  async save(workflow: Workflow): Promise<Workflow> {
    const reply = await this.call('POST', '/workflows', workflow);
    if (reply.status !== 201) throw new Error(`Saving ${workflow.name} failed: ${reply.status} ${reply.text}`);
    return workflow;
  }

  /** Starts a run and gives its id at once. */
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

  /** Saves a workflow, runs it to its end, and gives the run. */
  async finish(workflow: Workflow, inputs: JsonObject = {}, within = SAFETY_NET_MS): Promise<Run> {
    await this.save(workflow);
    return this.ended(await this.start(workflow.name, inputs), within);
  }

  /** Waits until a run has completed, failed or was canceled. */
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

  /** The founding document's call: the run's events, until `done`. */
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

  /** Saves a workflow and gives every frame of one run of it. */
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

/** An event as `type:node`, for whole-sequence comparisons. */
export function step(frame: SseFrame<RunEvent>): string {
  return frame.data.node_id === undefined ? `${frame.event}` : `${frame.event}:${frame.data.node_id}`;
}

/** The first text Part of a list of Artifacts. */
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
