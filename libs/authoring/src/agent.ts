import type { Work, WorkContext } from './work-context.js';

const AGENT = Symbol.for('parley-a2a/agent');
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** One thing that an agent can do, as its card says it (A2A 1.0, section 4.4.5). */
export interface Skill {
  id: string;
  name: string;
  description: string;
  tags?: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
}

/** An agent, as its author says it. */
export interface AgentDefinition {
  /** 1 to 64 letters, digits, underscores or hyphens. */
  name: string;
  /** One sentence for its card. */
  description?: string;
  /** Of the agent; `0.1.0` unless said otherwise. */
  version?: string;
  /** One that is named as the agent is, unless said otherwise. */
  skills?: Skill[];
  /** Media types that it takes: text and JSON, unless said otherwise. */
  inputModes?: string[];
  outputModes?: string[];
  /** Works on one Task. Executed from the beginning after a crash and after an answer (see WorkContext). */
  run(ctx: WorkContext): Work;
}

/** An agent that can be served. */
export interface DefinedAgent extends AgentDefinition {
  readonly [AGENT]: true;
}

/** How an agent is served; what is left out comes from the environment, as for the service itself. */
export interface ServeOptions {
  /** 4001 unless said otherwise; 0 takes any free one. */
  port?: number;
  /** 127.0.0.1 unless said otherwise. */
  host?: string;
  /** Of the embedded database; `.data/agents/<name>` unless said otherwise. */
  dataDir?: string;
  /** A database of the agent's own in place of the embedded one. */
  databaseUrl?: string;
}

/** An agent that is served. */
export interface Serving {
  /** The URL that it listens on; the agent is at `/a2a` there. */
  readonly url: string;
  /** Ends what is under way in order; another process goes on with it. */
  close(): Promise<void>;
}

export type Serve = (agent: DefinedAgent, options?: ServeOptions) => Promise<Serving>;

/** @throws TypeError naming the member that is wrong */
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
