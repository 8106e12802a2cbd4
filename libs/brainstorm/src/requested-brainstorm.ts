import { UNUSABLE_CREDENTIAL } from '#libs/a2a-client';
import { invalidParams, urlProblem } from '#libs/protocol';
import {
  agentTarget,
  type BrainstormSpec,
  DEFAULT_ITERATIONS,
  defaultName,
  MOST_ITERATIONS,
  type SettledAgent,
} from './brainstorm-spec.js';
import { llmSettings, type LlmSettings } from './core/llm-config.js';
import { FEWEST_AGENTS, isRole, MOST_AGENTS, roleAt, ROLES } from './core/role.js';
import { skillWords } from './core/skill-library.js';

/** Agent that a caller requests. */
export interface RequestedAgent {
  agent: string;
  name?: string;
  role?: string;
  provider?: string;
  model?: string;
  /** Name of a stored credential: for calls to a remote agent, or for the model calls of an agent of this service. */
  credential_ref?: string;
  /** Name of a stored credential, for calls to a remote agent that is given by its URL. */
  auth?: string;
  skills?: string[];
}

/** Brainstorm that a caller requests; its members have the right types. */
export interface RequestedBrainstorm {
  idea: string;
  agents: RequestedAgent[];
  maxIterations?: number;
  systemPrompt?: string;
  llmConfig?: LlmSettings & { credential_ref?: string };
  timeoutMs?: number;
}

/** Problem of a field of a request. */
export interface FieldProblem {
  path: string;
  detail: string;
}

/** Settings of agents that come from elsewhere than the request. */
export interface AgentDefaults {
  /** Settings of the service's configured model. */
  llm: LlmSettings;
  /**
   * Returns the text of a skill that is defined by an agent's card alone, by the names of agent and skill;
   * `undefined` if the card does not have it. Absent: no cards were read.
   */
  skillWords?: (agent: string, skill: string) => string | undefined;
  /**
   * Returns the usable credentials of the agent at a position (from 0), in order of precedence. Absent: each agent
   * uses the `credential_ref` of its own entry.
   */
  credentials?: (position: number) => readonly string[];
}

export const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
export const LONGEST_IDEA = 20_000;
export const LONGEST_PROMPT = 50_000;
export const LONGEST_NAME = 200;
export const MOST_SKILLS = 20;
export const LONGEST_TIMEOUT = 3_600_000;

/** Returns all problems of a request that the request alone shows, without looking up agents or credentials. */
export function brainstormProblems(wanted: RequestedBrainstorm): FieldProblem[] {
  const { idea, agents, maxIterations, timeoutMs, llmConfig, systemPrompt = '' } = wanted;
  const count = `must have ${FEWEST_AGENTS} to ${MOST_AGENTS} entries`;
  return [
    ...problemUnless(
      idea.trim() !== '' && idea.length <= LONGEST_IDEA,
      'idea',
      `must have 1 to ${LONGEST_IDEA} characters`,
    ),
    ...problemUnless(agents.length >= FEWEST_AGENTS && agents.length <= MOST_AGENTS, 'agents', count),
    ...agents.flatMap(agentProblems),
    ...problemUnless(
      isNumber(maxIterations, MOST_ITERATIONS),
      'maxIterations',
      `must be a number from 1 to ${MOST_ITERATIONS}`,
    ),
    ...problemUnless(
      isNumber(timeoutMs, LONGEST_TIMEOUT),
      'timeoutMs',
      `must be a number from 1 to ${LONGEST_TIMEOUT}`,
    ),
    ...problemUnless(
      systemPrompt.length <= LONGEST_PROMPT,
      'systemPrompt',
      `must have at most ${LONGEST_PROMPT} characters`,
    ),
    ...nameProblems(llmConfig?.credential_ref, 'llmConfig'),
  ];
}

/** Converts a request without problems to the specification. */
export function brainstormSpec(wanted: RequestedBrainstorm, defaults: AgentDefaults): BrainstormSpec {
  const { idea, systemPrompt, timeoutMs } = wanted;
  return {
    idea,
    agents: wanted.agents.map((agent, position) => settleAgent(agent, position, modelSettings(wanted), defaults)),
    maxIterations: wanted.maxIterations ?? DEFAULT_ITERATIONS,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function modelSettings({ llmConfig = {} }: RequestedBrainstorm): LlmSettings {
  const { credential_ref: _credential, ...settings } = llmConfig;
  return settings;
}

/** True if a skill is given by its text instead of a name. Names have no spaces. */
export function isSkillText(skill: string): boolean {
  return /\s/.test(skill.trim());
}

function settleAgent(
  wanted: RequestedAgent,
  position: number,
  override: LlmSettings,
  defaults: AgentDefaults,
): SettledAgent {
  const { agent, role, provider, model, credential_ref, auth, skills = [] } = wanted;
  const credentials = defaults.credentials?.(position) ?? (credential_ref === undefined ? [] : [credential_ref]);
  const target = agentTarget(agent);
  const problem = urlProblem(agent);
  if (problem !== undefined) throw invalidParams({ field: `agents[${position}].agent`, description: problem });
  if (target === undefined) throw new RangeError(`"${agent}" is not a reference to an agent`);
  const wordsOf = (skill: string): string => {
    if (isSkillText(skill)) return skill;
    return skillWords(skill) ?? defaults.skillWords?.(agent, skill) ?? '';
  };
  return {
    agent,
    name: wanted.name ?? defaultName(target),
    role: isRole(role) ? role : roleAt(position),
    target,
    ...(auth !== undefined && { auth }),
    ...(credentials.length > 0 && { credentials: [...credentials] }),
    llm: llmSettings(override, { provider, model }, defaults.llm),
    skills,
    skillWords: skills.map(wordsOf).filter((words) => words !== ''),
  };
}

function agentProblems(wanted: RequestedAgent, index: number): FieldProblem[] {
  const { agent, role, name = '', auth, credential_ref: credential, skills = [] } = wanted;
  const path = `agents[${index}]`;
  const problem = urlProblem(agent);
  const target = 'must be the URL of an agent, a path of the directory, or the name of a workflow';
  return [
    ...problemUnless(agentTarget(agent) !== undefined, `${path}.agent`, target),
    ...problemUnless(problem === undefined, `${path}.agent`, problem ?? ''),
    ...problemUnless(role === undefined || isRole(role), `${path}.role`, `must be one of ${ROLES.join(', ')}`),
    ...problemUnless(name.length <= LONGEST_NAME, `${path}.name`, `must have at most ${LONGEST_NAME} characters`),
    ...problemUnless(skills.length <= MOST_SKILLS, `${path}.skills`, `must have at most ${MOST_SKILLS} entries`),
    ...problemUnless(
      skills.join('').length <= LONGEST_PROMPT,
      `${path}.skills`,
      `must have at most ${LONGEST_PROMPT} characters`,
    ),
    ...problemUnless(
      auth === undefined || CREDENTIAL_NAME.test(auth),
      `${path}.auth`,
      'must be the name of a credential',
    ),
    ...problemUnless(
      auth === undefined || /^https?:/i.test(agent),
      `${path}.auth`,
      'is for an agent that is named by its URL',
    ),
    ...nameProblems(credential, path, mayUseCredential(agent)),
    ...problemUnless(
      auth === undefined || credential === undefined || auth === credential,
      `${path}.credential_ref`,
      'must be left out beside another auth',
    ),
  ];
}

/** True if an agent may have a `credential_ref`. A whole workflow may not, since it calls no model itself. */
function mayUseCredential(agent: string): boolean {
  const target = agentTarget(agent);
  return target === undefined || 'url' in target || target.path.includes('/nodes/');
}

function nameProblems(credential: string | undefined, path: string, isPossible = true): FieldProblem[] {
  const isName = credential === undefined || (isPossible && CREDENTIAL_NAME.test(credential));
  return problemUnless(isName, `${path}.credential_ref`, UNUSABLE_CREDENTIAL);
}

function problemUnless(holds: boolean, path: string, detail: string): FieldProblem[] {
  return holds ? [] : [{ path, detail }];
}

function isNumber(value: number | undefined, most: number): boolean {
  return value === undefined || (Number.isInteger(value) && value >= 1 && value <= most);
}
