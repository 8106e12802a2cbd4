import type { Serve } from '#libs/agent-sdk';

export {
  type AgentDefinition,
  type ArtifactContent,
  type ArtifactOutput,
  type ContentPart,
  defineAgent,
  type DefinedAgent,
  Failure,
  type Json,
  type JsonMembers,
  type Output,
  type ReceivedMessage,
  type Serve,
  type ServeOptions,
  type Serving,
  type Skill,
  type Step,
  StepError,
  type Work,
  type WorkContext,
} from '#libs/agent-sdk';

/**
 * Serves an agent in this process. Resolves with the agent's URL and a function that stops it, once the agent accepts
 * requests.
 * - Tasks are stored in PostgreSQL: in an embedded server, unless `databaseUrl` or DATABASE_URL names another one.
 * - The other environment variables of a stand-alone agent apply as well.
 * - SIGTERM ends the process after a graceful shutdown.
 */
export const serve: Serve = async (agent, options = {}) => {
  const { serveDefined } = await import('./start-agent.js');
  return serveDefined(agent, options, process.env);
};
