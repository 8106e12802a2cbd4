import { Injectable } from '@nestjs/common';
import { AgentCallError, AgentDirectory, RequestSigners, UNUSABLE_CREDENTIAL } from '#libs/a2a-client';
import { AgentCatalog, UnknownAgent } from '#libs/agents';
import { type ProblemEntry, ProblemError, ServiceAddress } from '#libs/http-server';
import type { AgentSkill } from '#libs/protocol';
import { AppConfig } from '#libs/service';
import { agentTarget, type BrainstormSpec, targetUrl } from '../brainstorm-spec.js';
import { SKILL_NAMES, skillWords } from '../core/skill-library.js';
import {
  brainstormProblems,
  brainstormSpec,
  type FieldProblem,
  isSkillText,
  type RequestedAgent,
  type RequestedBrainstorm,
} from '../requested-brainstorm.js';

/** Usable credentials for the agents of a brainstorm, and a problem for each named credential that is unusable. */
export interface SettledCredentials {
  problems: FieldProblem[];
  /** Credential names by the agent's position, in order of precedence. */
  credentials: string[][];
}

/**
 * Determines which credentials the agents of a brainstorm can use. A credential is usable if its `hosts` include the
 * origin of the agent's URL, or for an agent of this service the origin of a model.
 */
@Injectable()
export class CredentialSetup {
  constructor(
    private readonly signers: RequestSigners,
    private readonly catalog: AgentCatalog,
  ) {}

  /**
   * Returns the names of the usable credentials of each agent, and a problem for each unusable name.
   * @throws UnknownAgent if an agent of this service does not exist
   */
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

/** Time limit for reading a card, in milliseconds. */
const CARD_MS = 5_000;

/** Determines the agents, skills and credentials of a brainstorm before anything of it is written. */
@Injectable()
export class BrainstormSetup {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly directory: AgentDirectory,
    private readonly address: ServiceAddress,
    private readonly config: AppConfig,
    private readonly credentials: CredentialSetup,
  ) {}

  /**
   * Returns the specification of a requested brainstorm.
   * @throws ProblemError 422 with one entry for each field at fault
   */
  async settleSpec(wanted: RequestedBrainstorm, tenant: string): Promise<BrainstormSpec> {
    refuseProblems(brainstormProblems(wanted));
    const looked = await Promise.all(
      wanted.agents.map((agent, index) => this.lookUpAgent(agent, `agents[${index}]`, tenant)),
    );
    refuseProblems(looked.flatMap(({ problems }) => problems));
    const { problems, credentials } = await this.credentials.settleCredentials(wanted, tenant);
    refuseProblems(problems);
    const words = new Map(looked.flatMap(({ skills }) => skills));
    const { baseUrl, model } = this.config.llm;
    return brainstormSpec(wanted, {
      llm: { model, ...(baseUrl !== undefined && { provider: 'openai-compatible' }) },
      skillWords: (agent, skill) => words.get(skillKey(agent, skill)),
      credentials: (position) => credentials[position] ?? [],
    });
  }

  /** Checks that an agent of this service exists, and looks up the skills that only its card defines. */
  private async lookUpAgent(
    wanted: RequestedAgent,
    path: string,
    tenant: string,
  ): Promise<{ problems: ProblemEntry[]; skills: [string, string][] }> {
    const unknown = (wanted.skills ?? []).filter((skill) => !isSkillText(skill) && skillWords(skill) === undefined);
    try {
      const known = await this.skillsOf(wanted.agent, tenant, unknown.length > 0);
      const skills = unknown.map((skill) => [skill, known.find(({ id }) => id === skill)] as const);
      return {
        problems: skills.flatMap(([skill, found]) => {
          const at = `${path}.skills[${wanted.skills?.indexOf(skill) ?? 0}]`;
          const detail = `is neither a known skill (${SKILL_NAMES}) nor one of the agent's card`;
          return found ? [] : [{ path: at, detail }];
        }),
        skills: skills.map(([skill, found]) => [skillKey(wanted.agent, skill), found?.description ?? '']),
      };
    } catch (error) {
      if (error instanceof UnknownAgent) return singleProblem(`${path}.agent`, error.message);
      if (error instanceof AgentCallError)
        return singleProblem(`${path}.skills`, `the agent's card cannot be read: ${error.message}`);
      throw error;
    }
  }

  /**
   * Returns the skills of an agent's card.
   * @param needed true to read the card of a remote agent, too; otherwise its skills count as unknown
   * @throws UnknownAgent for a reference to a missing agent of this service
   */
  private async skillsOf(reference: string, tenant: string, needed: boolean): Promise<readonly AgentSkill[]> {
    const target = agentTarget(reference);
    if (target && 'path' in target) return (await this.catalog.inTenant(tenant).resolveAgent(target.path)).skills;
    if (target === undefined || !needed) return [];
    const url = targetUrl(target, this.address.internalUrl);
    const timeouts = { total: CARD_MS, refused: 0 };
    const card = await this.directory.resolveCard(url, { scope: { tenant, owner: '' }, timeouts });
    return card?.skills ?? [];
  }
}

function singleProblem(path: string, detail: string): { problems: ProblemEntry[]; skills: [string, string][] } {
  return { problems: [{ path, detail }], skills: [] };
}

function refuseProblems(problems: readonly ProblemEntry[]): void {
  if (problems.length === 0) return;
  throw new ProblemError(422, problems.map(({ path, detail }) => `${path}: ${detail}`).join('; '), problems);
}

function skillKey(agent: string, skill: string): string {
  return JSON.stringify([agent, skill]);
}
