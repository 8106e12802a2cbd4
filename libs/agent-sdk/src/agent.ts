import type { Work, WorkContext } from './work-context.js';

const AGENT = Symbol.for('parley-a2a/agent');
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Skill of an agent on its card (A2A 1.0, section 4.4.5). */
export interface Skill {
  id: string;
  name: string;
  description: string;
  tags?: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
}

/** Definition of an agent by its author. */
export interface AgentDefinition {
  /** 1 to 64 letters, digits, underscores or hyphens. */
  name: string;
  /** Sentence that describes it on its card. */
  description?: string;
  /** Version of the agent; default `0.1.0`. */
  version?: string;
  /** Skills; default: one named like the agent. */
  skills?: Skill[];
  /** Accepted media types; default: text and JSON. */
  inputModes?: string[];
  outputModes?: string[];
  /** Works on one Task. It runs from the beginning after a crash and after an answer (see WorkContext). */
  run(ctx: WorkContext): Work;
}

/** Defined agent, which can be served. */
export interface DefinedAgent extends AgentDefinition {
  readonly [AGENT]: true;
}

/** Options for serving an agent; the environment supplies defaults, as for the service itself. */
export interface ServeOptions {
  /** Port; default 4001. 0 picks a free one. */
  port?: number;
  /** Host; default 127.0.0.1. */
  host?: string;
  /** Folder of the embedded database; default `.data/agents/<name>`. */
  dataDir?: string;
  /** URL of a database for this agent alone, in place of the embedded one. */
  databaseUrl?: string;
}

/** Served agent. */
export interface Serving {
  /** URL on which it listens; the agent is at `/a2a` below it. */
  readonly url: string;
  /** Stops work in progress in order; another process resumes it. */
  close(): Promise<void>;
}

export type Serve = (agent: DefinedAgent, options?: ServeOptions) => Promise<Serving>;

/** Defines an agent. @throws TypeError naming the invalid member */
export function defineAgent(definition: AgentDefinition): DefinedAgent {
  if (typeof definition.name !== 'string' || !NAME.test(definition.name)) {
    throw new TypeError('defineAgent: name must be 1 to 64 letters, digits, underscores or hyphens');
  }
  if (typeof definition.run !== 'function') throw new TypeError('defineAgent: run must be a function');
  return { ...definition, run: (ctx) => definition.run(ctx), [AGENT]: true };
}

export function isDefinedAgent(value: unknown): value is DefinedAgent {
  return typeof value === 'object' && value !== null && AGENT in value;
}
