export { CancelPoller, ChildEndings } from './cancel-poller.js';
export {
  type AcceptingCall,
  type AgentDeclaration,
  AgentExecutor,
  type CallContext,
  callerGone,
  type CurrentInput,
  endChildrenJob,
  type HeldParts,
  PartKeeper,
  type PartRestorer,
  type RequestContext,
  TaskCanceled,
} from './agent-executor.js';
export {
  AGENT_TOOL,
  AgentCatalog,
  type AgentDetails,
  agentOrGone,
  agentToolEntries,
  BuiltInAgents,
  checkMediaTypes,
  fittedParts,
  type ListedAgent,
  type LocalRequestHandler,
  readsText,
  type ServedAgent,
  type SkillSchema,
  UnknownAgent,
  unreadParts,
} from './agent-catalog.js';
export {
  BRAINSTORM_ENTRY,
  BrainstormEntries,
  type BrainstormEntry,
  CALL_CHAIN,
  CallBudgets,
  CallChains,
  calledAgentOf,
  type ChainLink,
  chainMetadata,
  chainOf,
  CONVERSATION_ENTRY,
  ConversationEntries,
  type ConversationEntry,
  CONVERSATIONS_PATH,
  keptChain,
  keptEntry,
  type SaidText,
  SignedEntries,
} from './call-chain.js';
export {
  argumentSchema,
  type ArgumentSchema,
  type ConfigSchema,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  NodeTypes,
} from './node-types.js';
export { noteOf, type SpanStep } from './spans/span-step.js';
export {
  acceptedRevision,
  type Execution,
  ExecutionInterrupted,
  REVISION_CLAIM,
  REVISION_KEY,
  RevisionClaims,
} from './execution.js';
export { ExecutionRegistry } from './execution-registry.js';
export {
  BuiltInAgentsModule,
  CallChainModule,
  ExecutorModule,
  RevisionClaimModule,
  WorkBudgetModule,
} from './executor.module.js';
export { LeftReplicas, TaskRecovery } from './task-recovery.js';
export { isTaskBusy } from './task-claims.js';
export { readIdempotencyKey } from './idempotent-requests.js';
export { workLimits, type WorkPlace } from './work/node-room.js';
export { type RunWork, WorkBudget } from './work/work-budget.js';
