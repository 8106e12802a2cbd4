import { Injectable } from '@nestjs/common';
import {
  ConfigurationKinds,
  type ConfigurationObject,
  type ConfigurationSaver,
  TableKind,
  type WantedObject,
} from '#libs/configuration';
import { ProblemError, readBody } from '#libs/http-server';
import type { AgentCard, JsonObject } from '#libs/protocol';
import { MOST_REGISTERED_AGENTS, type RegistrationFields } from '../agents/registered-agents.js';
import { RelayLimits } from '../relay/relay-limits.js';
import { RelayRemoval } from '../relay/relay-removal.js';
import { RegisteredAgentBody } from './registered-agent-body.js';
import { RegistrationCheck } from './registration-check.js';

/** Kind of the configuration objects (entries of configuration files) that describe registered agents. */
@Injectable()
export class RegisteredAgentKind extends TableKind {
  readonly kind = 'agent';
  readonly rank = 40;
  protected readonly table = 'registered_agent';
  protected readonly columns = ['url', 'auth', 'policy'];
  protected readonly most = MOST_REGISTERED_AGENTS;
  protected readonly plural = 'registered agents';

  constructor(
    private readonly check: RegistrationCheck,
    private readonly limits: RelayLimits,
    private readonly removal: RelayRemoval,
    kinds: ConfigurationKinds,
  ) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    const body = readBody(RegisteredAgentBody, sent);
    this.check.requirePermitted(body);
    return { id: body.name, name: body.name, definition: body.definition as unknown as JsonObject };
  }

  /**
   * Reads the card of the agent that an object describes, and pins the card.
   * @throws ProblemError 422 if the card cannot be read
   */
  override prepareObject(
    { definition }: ConfigurationObject,
    saver: ConfigurationSaver,
    signal: AbortSignal,
  ): Promise<AgentCard> {
    return this.check.readCard(definition as unknown as RegistrationFields, saver, signal);
  }

  override async finishChange(
    tenant: string,
    { name, definition }: ConfigurationObject,
    isDeleted: boolean,
  ): Promise<void> {
    if (!isDeleted) return;
    await this.limits.forgetAgent(tenant, name);
    const { url, auth } = definition as unknown as RegistrationFields;
    this.removal.endParkedTasks({ tenant, name, url, ...(auth !== undefined && { auth }) });
  }

  protected override toColumns({ definition, prepared }: WantedObject): Record<string, unknown> {
    const { url, auth, policy } = definition as unknown as RegistrationFields;
    return { url, auth: auth ?? null, policy: JSON.stringify(policy), card: JSON.stringify(prepared) };
  }

  protected override toDefinition({ url, auth, policy }: JsonObject): JsonObject {
    return { url: url ?? '', ...(auth !== null && auth !== undefined && { auth }), policy: policy ?? {} };
  }
}

/** Finds the problems of a registration that can be found without a running service. */
export function findRegistrationProblems(sent: object): { path: string; detail: string }[] {
  try {
    readBody(RegisteredAgentBody, sent);
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}
