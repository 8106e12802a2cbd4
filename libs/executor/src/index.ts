export { CancelPoller } from './cancel-watch.js';
export {
  type AcceptingCall,
  type AgentDeclaration,
  type CurrentInput,
  AgentExecutor,
  type CallContext,
  type RequestContext,
  TaskCanceled,
} from './agent-executor.js';
export {
  AgentCatalog,
  type AgentDetails,
  type ListedAgent,
  type ServedAgent,
  type SkillSchema,
  UnknownAgent,
} from './agent-catalog.js';
export { AGENT_TOOL, agentToolEntries } from './agent-tool-names.js';
export { callerGone } from './caller-gone.js';
export { CallBudgets } from './call-budgets.js';
export { argumentSchema, type ArgumentSchema } from './argument-schema.js';
export { noteOf, type SpanStep } from './spans/span-step.js';
export { type Execution, ExecutionInterrupted } from './execution.js';
export { type ConfigSchema, type NodeProblem, type NodeSpec, type NodeType, NodeTypes } from './node-types.js';
export { ExecutionRegistry } from './execution-registry.js';
export { type HeldParts, PartKeeper, type PartRestorer } from './part-keeper.js';
export type { LocalRequestHandler } from './local-request-handler.js';
export { ChildEndings } from './child-endings.js';
export { endChildrenJob } from './end-children-job.js';
export { agentOrGone } from './gone-agent.js';
export { checkMediaTypes, fittedParts, readsText, unreadParts } from './media-types.js';
export { acceptedRevision, REVISION_KEY } from './new-task.js';
export { endsTurn } from './task-execution.js';
export { ExecutorModule } from './executor.module.js';
export { LeftReplicas } from './left-replicas.js';
export { TaskRecovery } from './task-recovery.js';
export { isTaskBusy } from './waiting-claim.js';
export { readIdempotencyKey } from './idempotent-requests.js';
export { BuiltInAgents, BuiltInAgentsModule } from './built-in-agents.js';
export {
  calledAgentOf,
  type ChainLink,
  CALL_CHAIN,
  CallChainModule,
  CallChains,
  chainMetadata,
  chainOf,
  CONVERSATIONS_PATH,
  keptChain,
} from './call-chain.js';
export { BRAINSTORM_ENTRY, BrainstormEntries, type BrainstormEntry } from './brainstorm-entry.js';
export {
  CONVERSATION_ENTRY,
  ConversationEntries,
  type ConversationEntry,
  keptEntry,
  type SaidText,
} from './conversation-entry.js';
export { SignedEntries } from './signed-entries.js';
export type { WorkPlace } from './work/node-room.js';
export { type RunWork, WorkBudget, WorkBudgetModule } from './work/work-budget.js';
export { workLimits } from './work/work-limits.js';
export { REVISION_CLAIM, RevisionClaimModule, RevisionClaims } from './revision-claim.js';
