import { Injectable, Module } from '@nestjs/common';
import { type AgentCatalog, calledAgentOf, type SaidText, type ServedAgent, UnknownAgent } from '#libs/agents';
import { ServiceAddress } from '#libs/http-server';
import { retryWhileUnreachable } from '#libs/postgres';
import {
  A2AError,
  type JsonObject,
  type Message,
  redactedUrl,
  type TaskState,
  textStart,
  urlProblem,
  withoutTrailing,
} from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import type { CalledAgent } from './durable-execution.js';

/**
 * Tuple of the name of a request field, the agent reference in the field if there is one, and the revision of the agent
 * if it is not the newest.
 */
type NamedReference = readonly [field: string, reference: string | undefined, revision?: string | undefined];

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Resolves references to agents: a URL, a path below `/a2a`, or the name of a workflow or a node. */
@Injectable()
export class AgentReferences {
  private catalog: AgentCatalog | undefined;

  constructor(private readonly address: ServiceAddress) {}

  /**
   * Sets the catalog in which references are resolved. The catalog cannot be a parameter of the constructor: it
   * depends on the node types, which depend on this class. Call this method before the service listens.
   */
  setCatalog(catalog: AgentCatalog): void {
    this.catalog = catalog;
  }

  /**
   * Returns the agent's URL without a trailing slash, or the path of an agent of this service. Only agents that the
   * tenant sees are found.
   * @param revision revision that an agent looked up by its path must have; absent: the newest
   * @throws UnknownAgent if no agent has the reference
   */
  async resolveReference(reference: string, tenant: string, revision?: string): Promise<string> {
    if (isUrl(reference)) {
      if (!URL.canParse(reference)) throw new UnknownAgent('the URL is not valid', 'AGENT_NOT_FOUND');
      const problem = urlProblem(reference);
      if (problem !== undefined) throw new UnknownAgent(`the URL ${problem}`, 'AGENT_NOT_FOUND');
      return withoutTrailing(reference, '/');
    }
    const path = reference.replace(/^\/?(a2a\/)?/, '').replace(/\/$/, '');
    if (path === '') throw unknownReference(reference);
    if (path.includes('/')) return (await this.tenantCatalog(tenant).resolveAgent(path, revision)).path;
    return this.resolveName(path, tenant);
  }

  /**
   * Returns an agent of this service by its name or its path.
   * @throws UnknownAgent if there is no such agent, and for every URL
   */
  async findServedAgent(reference: string, tenant: string): Promise<ServedAgent> {
    if (isUrl(reference)) throw unknownReference(reference);
    return this.tenantCatalog(tenant).resolveAgent(await this.resolveReference(reference, tenant));
  }

  /** True if a reference names an agent of this service, by the agent's name, path or URL. */
  isOwn(reference: string): boolean {
    if (!isUrl(reference)) return true;
    return URL.canParse(reference) && this.address.ownPath(calledAgentOf(new URL(reference).href)) !== undefined;
  }

  /** True if two references name the same agent. Their forms may differ: name, path, URL or card URL. */
  async areSame(one: string, other: string, tenant: string): Promise<boolean> {
    if (one === other) return true;
    const [first, second] = await Promise.all([this.findIdentity(one, tenant), this.findIdentity(other, tenant)]);
    return first === second;
  }

  /**
   * Returns the target of calls to a reference. The agent is looked up for each call; while the database is
   * unreachable, the lookup is retried.
   * @param signal signal of the calling execution, which ends the retries
   * @param revision revision that an agent looked up by its path must have; absent: the newest
   */
  callTarget(
    reference: string,
    tenant: string,
    signal: AbortSignal,
    revision?: string,
  ): Pick<CalledAgent, 'own' | 'findTarget'> {
    const findTarget = async (): Promise<{ url: string; calledAgent: string }> => {
      const calledAgent = await retryWhileUnreachable(() => this.resolveReference(reference, tenant, revision), signal);
      const url = isUrl(calledAgent) ? calledAgent : `${this.address.internalUrl}/a2a/${calledAgent}`;
      return { url, calledAgent };
    };
    return { own: !isUrl(reference), findTarget };
  }

  /** Returns the target of calls to an agent that is part of the service, such as `conversations`. */
  builtIn(path: string): Pick<CalledAgent, 'own' | 'findTarget'> {
    return { own: true, findTarget: () => ({ url: `${this.address.internalUrl}/a2a/${path}`, calledAgent: path }) };
  }

  /**
   * Checks that each reference names an agent that can be called.
   * @param named fields that contain references, with their values
   * @throws A2AError INVALID_PARAMS with status 422, naming each wrong field
   */
  async refuseUnknown(named: readonly NamedReference[], tenant: string): Promise<void> {
    const problems = await Promise.all(
      named.map(async ([field, reference, revision]) => {
        const description = reference === undefined ? undefined : await this.problemOf(reference, tenant, revision);
        return description === undefined ? [] : [{ field, description }];
      }),
    );
    const violations = problems.flat();
    if (violations.length === 0) return;
    const message = violations.map(({ field, description }) => `${field}: ${description}`).join('; ');
    throw new A2AError('INVALID_PARAMS', { message, violations, status: 422 });
  }

  /** Returns the reason why no agent can be called by a reference; `undefined` if there is such an agent. */
  async problemOf(reference: string, tenant: string, revision?: string): Promise<string | undefined> {
    try {
      await this.resolveReference(reference, tenant, revision);
      return undefined;
    } catch (error) {
      if (error instanceof UnknownAgent) return error.message;
      throw error;
    }
  }

  /**
   * Returns a key for comparing references: all references to the same agent have the same key. For an unknown agent,
   * the key is the reference itself.
   */
  private async findIdentity(reference: string, tenant: string): Promise<string> {
    try {
      const found = await this.resolveReference(reference, tenant);
      if (!isUrl(found)) return found;
      const url = calledAgentOf(new URL(found).href);
      const path = this.address.ownPath(url);
      return path === undefined ? url : (await this.tenantCatalog(tenant).resolveAgent(path)).path;
    } catch (error) {
      if (error instanceof UnknownAgent) return reference;
      throw error;
    }
  }

  /** Resolves the name of a workflow or a node. A workflow takes precedence over a node. */
  private async resolveName(name: string, tenant: string): Promise<string> {
    if (!NAME.test(name)) throw unknownReference(name);
    try {
      return (await this.tenantCatalog(tenant).resolveAgent(`workflows/${name}`)).path;
    } catch (error) {
      if (!(error instanceof UnknownAgent)) throw error;
    }
    try {
      return (await this.tenantCatalog(tenant).resolveAgent(`nodes/${name}`)).path;
    } catch (error) {
      if (error instanceof UnknownAgent && error.reason === 'NODE_NOT_FOUND') throw unknownReference(name);
      throw error;
    }
  }

  private tenantCatalog(tenant: string): AgentCatalog {
    if (!this.catalog) throw new Error('AgentReferences has no catalog yet');
    return this.catalog.inTenant(tenant);
  }
}

/** Module that shares one AgentReferences. Needs HttpModule. */
@Module({ providers: [AgentReferences], exports: [AgentReferences] })
export class AgentReferencesModule {}

function isUrl(reference: string): boolean {
  return /^https?:/i.test(reference);
}

function unknownReference(reference: string): UnknownAgent {
  return new UnknownAgent(`there is no agent "${textStart(redactedUrl(reference), 200)}"`, 'AGENT_NOT_FOUND');
}

/** Request of an agent to start a conversation, made by a tool call. */
export interface TalkRequest {
  /** Path of the agent that starts the conversation. */
  requester: string;
  /** Reference of the agent to talk to. */
  target: string;
  /** First text that the requester says. */
  message: string;
  /** Maximum number of turns after the first answer; 0 to 20. */
  maxTurns: number;
  /** Time limit in milliseconds for one turn of an agent. */
  timeoutMs: number;
  /** Reference of the agent that announces the end of the conversation. */
  announce?: string;
  /** Name of the stored credential for the target. */
  credential?: string;
}

/** Data about the origin of a conversation. Only this service may set them, so they are signed. */
export interface TalkSource {
  /** Tool call that starts the conversation, and the Task in which the model made that call. */
  origin: { taskId: string; call: string };
  /** Texts of the Task in `origin` before the tool call, oldest first. */
  before: readonly SaidText[];
  /**
   * Revision of the requester's workflow that accepted the Task in `origin`. The conversation calls the requester in
   * the same revision.
   */
  revision?: string;
}

/** State of a conversation that waits for a Message. */
interface TalkQuestion {
  state: TaskState;
  /** Message that passes on the question of an agent; absent if the conversation is paused. */
  asked?: Message;
}

/** Outcome of a conversation; or the state in which the requester stops waiting for it. */
export type TalkOutcome =
  /** `{conversationId, outcome, turns, error?}` at the end, or `{conversationId, reply}` after the first answer. */
  | { result: JsonObject }
  /** Set if the conversation waits for a Message that resumes it. */
  | { question: TalkQuestion }
  /** Reason why there is no result. */
  | { error: string };

/**
 * Options of waiting for a conversation. With `wait: true`, the requester waits until its end, otherwise until the
 * first answer.
 */
export interface TalkWait {
  wait: boolean;
  /** Signal of the waiting execution. */
  signal: AbortSignal;
}

/**
 * Lets an agent start a conversation with another agent. The conversation is a Task of a built-in agent of this
 * service.
 */
export abstract class AgentTalks {
  /** Returns the built-in agent that a call must address to start a conversation. */
  abstract conversationTarget(): Pick<CalledAgent, 'own' | 'findTarget'>;

  /** Returns the Message that starts a conversation; `withSource` adds the source. */
  abstract requestMessage(request: TalkRequest, fields: Pick<Message, 'messageId'>): Message;

  /**
   * Returns the Message with its source, signed for the owner of the Message. Views of the conversation show
   * `source.origin`. The requester gets the newest texts of `before`, up to a size limit, with the Message of its first
   * turn.
   */
  abstract withSource(message: Message, source: TalkSource, scope: TaskScope): Message;

  /**
   * Waits for the outcome of a conversation, in whichever replica it is executed. The same log always gives the same
   * outcome.
   * @throws the reason of the signal in `wait`
   */
  abstract awaitOutcome(conversationId: string, wait: TalkWait): Promise<TalkOutcome>;
}
