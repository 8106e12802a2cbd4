import { Injectable } from '@nestjs/common';
import { RequestSigners, UNUSABLE_CREDENTIAL } from '#libs/a2a-client';
import { AgentCatalog } from '#libs/executor';
import { agentTarget } from '../agent-target.js';
import type { FieldProblem, RequestedBrainstorm } from '../requested-brainstorm.js';

/** Credentials for the agents of a brainstorm, and problems of the named ones. */
export interface SettledCredentials {
  problems: FieldProblem[];
  /** Credential names by the agent's position, in order of precedence. */
  credentials: string[][];
}

/**
 * Determines which credentials the agents of a brainstorm can use. Such a credential has its own hosts. They include
 * the origin of the agent's URL, or for an agent of this service the origin of a model.
 */
@Injectable()
export class CredentialSetup {
  constructor(
    private readonly signers: RequestSigners,
    private readonly catalog: AgentCatalog,
  ) {}

  /** @throws UnknownAgent */
  async settleCredentials({ agents, llmConfig }: RequestedBrainstorm, tenant: string): Promise<SettledCredentials> {
    const override = llmConfig?.credential_ref;
    const settled = await Promise.all(
      agents.map(async ({ agent, credential_ref: own }) => {
        if (override === undefined && own === undefined) return { override: false, own: false };
        const origins = await this.originsOf(agent, tenant);
        const [byAll, byItself] = await Promise.all(
          [override, own].map((name) => this.isUsable(name, tenant, origins)),
        );
        return { override: byAll === true, own: byItself === true };
      }),
    );
    const isUnused = override !== undefined && !settled.some((usable) => usable.override);
    const unusable = agents.flatMap(({ credential_ref: own }, at) =>
      own === undefined || settled[at]?.own ? [] : [`agents[${at}].credential_ref`],
    );
    const paths = [...(isUnused ? ['llmConfig.credential_ref'] : []), ...unusable];
    return {
      problems: paths.map((path) => ({ path, detail: UNUSABLE_CREDENTIAL })),
      credentials: agents.map(({ credential_ref: own }, at) => [
        ...(override !== undefined && settled[at]?.override ? [override] : []),
        ...(own === undefined ? [] : [own]),
      ]),
    };
  }

  private async originsOf(reference: string, tenant: string): Promise<readonly string[]> {
    const target = agentTarget(reference);
    if (target === undefined) return [];
    if ('url' in target) return [new URL(target.url).origin];
    const { executor } = await this.catalog.inTenant(tenant).resolveAgent(target.path);
    return (await executor.modelOrigins?.(tenant)) ?? [];
  }

  private async isUsable(name: string | undefined, tenant: string, origins: readonly string[]): Promise<boolean> {
    if (name === undefined || origins.length === 0) return false;
    return this.signers.reachesOrigins({ credential: name, tenant }, origins);
  }
}
