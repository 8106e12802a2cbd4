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

/** Definition of an agent, as its author writes it. */
export interface AgentDefinition {
  /** Name of the agent: 1 to 64 letters, digits, underscores or hyphens. */
  name: string;
  /** Sentence that describes the agent on its card. */
  description?: string;
  /** Version of the agent; default `0.1.0`. */
  version?: string;
  /** Skills on the card; default: one skill with the name of the agent. */
  skills?: Skill[];
  /** Media types that the agent accepts; default: text and JSON. */
  inputModes?: string[];
  outputModes?: string[];
  /**
   * Works on one Task. The function runs from its beginning again after a crash, and after an answer to its question
   * (see WorkContext).
   */
  run(ctx: WorkContext): Work;
}

/** Agent that `defineAgent` has checked and that `serve` accepts. */
export interface DefinedAgent extends AgentDefinition {
  readonly [AGENT]: true;
}

/** Options for serving an agent. The environment variables of the service supply the other defaults. */
export interface ServeOptions {
  /** Port to listen on; default 4001. 0 picks a free port. */
  port?: number;
  /** Host to listen on; default 127.0.0.1. */
  host?: string;
  /** Folder of the embedded database; default `.data/agents/<name>`. */
  dataDir?: string;
  /** URL of a PostgreSQL database for this agent alone, in place of the embedded database. */
  databaseUrl?: string;
}

/** Running server of an agent. */
export interface Serving {
  /** URL that the server listens on; the agent is at `/a2a` below it. */
  readonly url: string;
  /** Shuts the server down. Work in progress stops, and a later process resumes it. */
  close(): Promise<void>;
}

/** Starts a server for an agent, and resolves once it listens. */
export type Serve = (agent: DefinedAgent, options?: ServeOptions) => Promise<Serving>;

/**
 * Checks the name and the function of an agent, and marks it as defined.
 * @throws TypeError naming the invalid member
 */
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
