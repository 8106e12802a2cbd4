import {
  type AgentDeclaration,
  AgentExecutor,
  type BrainstormEntries,
  type CallChains,
  type CallContext,
  type ChainLink,
  chainMetadata,
  chainOf,
  type ConversationEntries,
  type CurrentInput,
  keptChain,
  type NodeSpec,
  type RequestContext,
  TaskCanceled,
} from '#libs/agents';
import { ECHO_MODEL, type Models, StructuredAnswer } from '#libs/models';
import {
  dataPart,
  failedUpdate,
  type JsonObject,
  type Part,
  type SendMessageRequest,
  statusUpdate,
} from '#libs/protocol';
import { type DailyBudgets, endsTurn, type RunBudgets, type TaskEvent } from '#libs/tasks';
import { type NodeEvent, NodeFailure } from '../node-executor.js';
import {
  AgentLog,
  type BrainstormRequest,
  brainstormRequest,
  type Remembered,
  saidBefore,
  tokensOf,
} from './agent-log.js';
import { type AgentMemory, NOTHING_REMEMBERED } from './agent-memory.js';
import { type AgentNodeSettings, agentSettings } from './agent-settings.js';
import { type AgentTools, type AgentToolServices, callerOf, WireNames } from './agent-tools.js';
import { type AgentNodeTurn, callStep, modelStep, openingOf } from './agent-turn.js';
import { CalledAgents } from './called-agents.js';
import { ModelBudget } from './model-budget.js';

/** Services that find the budgets of a Task, and charge calls of models to them. */
interface ModelBudgetServices {
  chains: Pick<CallChains, 'budgetsOf'>;
  runs: Pick<RunBudgets, 'requestCall' | 'releaseCall' | 'raiseLimit'>;
  /** Daily budgets of callers and tenants; absent: there are none. */
  daily?: Pick<DailyBudgets, 'findExceeded'>;
}

/** Services of `agent` nodes. */
export interface AgentNodeServices {
  models: Models;
  tools: AgentTools;
  /** Memory of earlier turns. If absent, agents remember no earlier Tasks. */
  memory?: Pick<AgentMemory, 'recallMessages'>;
  /** Reads the data that a conversation of this service sends with a Message. If absent, such data is ignored. */
  entries?: Pick<ConversationEntries, 'readEntry'>;
  /**
   * Reads the data that a brainstorm of this service sends with a Message. If absent, no Message counts as the request
   * of a brainstorm.
   */
  brainstorms?: Pick<BrainstormEntries, 'readEntry'>;
  /** Services for calling agents as tools; absent: agents cannot be tools. */
  agents?: AgentToolServices;
  /** Budgets of runs; absent: no budget limits the calls of models. */
  budgets?: ModelBudgetServices;
}

/** Maximum milliseconds that the cancel of a Task waits until the Tasks of its called agents are canceled. */
const CANCEL_MS = 10_000;

/**
 * Executor of `agent` nodes: answers a Message with a model and tools.
 * - Calls of models and tools run one after the other. Each is recorded before the next.
 * - The log of the Task alone decides the next step, so a crash repeats no model call that was answered.
 */
export class ModelExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration;
  override readonly currentInput: AgentExecutor['currentInput'];
  override readonly modelOrigins: NonNullable<AgentExecutor['modelOrigins']>;
  override readonly callsAgents: boolean;
  override readonly cancelGrace: number;
  private readonly settings: AgentNodeSettings;
  private readonly structure: StructuredAnswer | undefined;

  constructor(
    private readonly node: NodeSpec,
    private readonly services: AgentNodeServices,
  ) {
    super();
    this.settings = agentSettings(node);
    const { models } = services;
    const {
      output,
      models: [model],
    } = this.settings;
    this.declares = model === ECHO_MODEL ? {} : declareInput(models.defaultModel.inputModes);
    this.currentInput = model === undefined || model === ECHO_MODEL ? undefined : inputOf(model, models);
    this.modelOrigins = originsOf(this.settings, models);
    this.structure = output && new StructuredAnswer(output);
    this.callsAgents = this.settings.agents.length > 0 && services.agents !== undefined;
    this.cancelGrace = this.callsAgents ? CANCEL_MS : 0;
  }

  /** Stores the chain of calls that led to the Task, if the agent calls other agents, or a run above has a budget. */
  override taskMetadata(request: SendMessageRequest): JsonObject {
    const links = chainOf(request);
    return this.callsAgents || links.some(({ budget }) => budget !== undefined) ? chainMetadata(links) : {};
  }

  /**
   * Rejects a new Message if this agent is in the call chain of the Message: the agent has then called itself through
   * other agents. Accepts any Message for an agent that calls no agents.
   */
  override checkRequest(request: SendMessageRequest, { agent }: CallContext): void {
    if (!this.callsAgents || request.message.taskId !== undefined) return;
    this.services.agents?.chains.refuseReentry(agent, chainOf(request));
  }

  override async *execute(context: RequestContext): AsyncIterable<NodeEvent> {
    const events = await context.readTaskLog();
    const brainstorm = this.brainstormOf(context, events);
    const structure = this.structure ?? (brainstorm && stateStructure(brainstorm));
    const log = AgentLog.fromEvents(events, (answer) => structure?.complaintAbout(answer) ?? '');
    const calledAgents = this.calledAgentsOf(context, log);
    const begun = { log, structure, ...(brainstorm && { brainstorm }) };
    const isNew = context.task === null && context.recovered === 0;
    if (isNew) yield statusUpdate(context, 'TASK_STATE_WORKING');
    let isOver = false;
    try {
      if (calledAgents) context.signal.throwIfAborted();
      for await (const event of this.runSteps(context, begun, calledAgents)) {
        // The event is applied before it is yielded, as the next step depends on the log alone.
        log.applyEvent(event);
        isOver = endsTurn(event);
        yield event;
      }
    } catch (error) {
      if (calledAgents && context.signal.reason instanceof TaskCanceled) return yield* calledAgents.cancelAndReport();
      if (!(error instanceof NodeFailure)) throw error;
      await calledAgents?.endAll();
      isOver = true;
      yield failedUpdate(context, `Error: ${error.message}`, error.note);
    } finally {
      // After an internal error, or at a limit of the Task, only this execution knows the Tasks of remote agents, so it
      // cancels them.
      if ((!isOver || context.isRefused?.()) && !context.signal.aborted) await calledAgents?.endAll();
      calledAgents?.closeConnections();
    }
  }

  private calledAgentsOf(context: RequestContext, log: AgentLog): CalledAgents | undefined {
    const { agents } = this.services;
    if (!agents || !this.callsAgents) return undefined;
    return new CalledAgents(agents, { context, links: linksOf(context), log }, this.settings.agents);
  }

  private budgetOf(context: RequestContext): ModelBudget | undefined {
    const { budgets } = this.services;
    if (!budgets) return undefined;
    const links = linksOf(context);
    const ids = links.some(({ budget }) => budget !== undefined) ? budgets.chains.budgetsOf(links) : [];
    const { runs, daily } = budgets;
    return ids.length > 0 || daily ? new ModelBudget(runs, context, ids, daily) : undefined;
  }

  private async *runSteps(
    context: RequestContext,
    begun: BegunTurn,
    calledAgents: CalledAgents | undefined,
  ): AsyncGenerator<NodeEvent, void, void> {
    const { settings } = this;
    const { models, memory } = this.services;
    const { log } = begun;
    const found =
      settings.tools.length > 0 ? await this.services.tools.findTools(settings.tools, callerOf(context)) : [];
    const entries = this.entriesOf(context, log);
    const inConversation = entries.opening !== undefined || entries.current !== undefined;
    const tools = calledAgents ? [...found, ...(await calledAgents.offerTools(inConversation))] : found;
    const remembering = {
      ...settings,
      historyTokens: settings.historyTokens - tokensOf(saidBefore({ settings, entries })),
    };
    let remembered: Promise<Remembered> | undefined;
    const recallOnce = (): Promise<Remembered> =>
      (remembered ??=
        memory?.recallMessages(context, remembering, log.remembered) ?? Promise.resolve(NOTHING_REMEMBERED));
    const wire = tools.length > 0 ? new WireNames(tools.map(({ name }) => name)) : NO_TOOLS;
    const node = this.node.id;
    const budget = this.budgetOf(context);
    const turn: AgentNodeTurn = {
      node,
      context,
      settings,
      models,
      tools,
      wire,
      entries,
      recallEarlier: recallOnce,
      ...(budget && { budget }),
      ...begun,
    };
    while (log.question === undefined) {
      if (log.failure !== undefined) throw new NodeFailure(log.failure.message, log.failure);
      const { call } = log;
      const answer = call || log.open ? undefined : finalAnswer(turn);
      if (answer) {
        await calledAgents?.endWaiting();
        return yield statusUpdate(context, 'TASK_STATE_COMPLETED', answer);
      }
      yield* call ? callStep(turn, call) : modelStep(turn);
    }
  }

  private entriesOf(context: RequestContext, log: AgentLog): AgentNodeTurn['entries'] {
    const { entries } = this.services;
    const { userMessage, call } = context;
    const [first] = openingOf(log, context);
    const [current, opening] = [userMessage, first].map(
      (message) => message && entries?.readEntry(message, call.scope),
    );
    return { ...(current && { current }), ...(opening && { opening }) };
  }

  /**
   * Returns the request of a brainstorm in the Message that began the Task; `undefined` if a brainstorm did not send
   * it.
   */
  private brainstormOf(context: RequestContext, events: readonly TaskEvent[]): BrainstormRequest | undefined {
    const { task, userMessage, call } = context;
    const recorded = events.flatMap((event) => ('task' in event ? (event.task.history ?? []) : []));
    const [first = userMessage] = [...recorded, ...(task?.history ?? [])];
    return brainstormRequest(first, { ...call.scope, agent: call.agent }, this.services.brainstorms);
  }
}

const NO_TOOLS = new WireNames([]);

/** State of a turn before its tools are looked up. */
type BegunTurn = Pick<AgentNodeTurn, 'log' | 'structure' | 'brainstorm'>;

function stateStructure({ entry: { output, accepts } }: BrainstormRequest): StructuredAnswer {
  return new StructuredAnswer(output, { accepts });
}

/**
 * Returns the final answer; `undefined` if a model must be called, because there is no answer yet or the first one is
 * invalid.
 * @throws NodeFailure with the faults of all answers if the corrected answer is invalid too
 */
function finalAnswer({ log: { answer, mended }, structure }: AgentNodeTurn): Part[] | undefined {
  if (!answer || !structure) return answer;
  const read = structure.readValue(answer);
  if ('value' in read) return [dataPart(read.value)];
  if (mended.length === 0) return undefined;
  const faults = new Set([...structure.faultsOf(mended), read.fault]);
  throw new NodeFailure(`the model's answer does not fit the schema: ${[...faults].join(NEXT_ANSWER)}`, {
    note: { kind: 'invalid-output' },
  });
}

const NEXT_ANSWER = '; nor is the answer after that: ';

function originsOf(settings: Pick<AgentNodeSettings, 'models'>, models: Models): ModelExecutor['modelOrigins'] {
  return async (tenant) => {
    const origins = await Promise.all(settings.models.map((name) => models.findOrigin(name, { tenant })));
    return [...new Set(origins.filter((origin) => origin !== undefined))];
  };
}

/** Returns the chain of calls that led to the Task. */
function linksOf({ task, userMessage, metadata }: RequestContext): ChainLink[] {
  return task ? keptChain(task.metadata) : chainOf({ message: userMessage, ...(metadata && { metadata }) });
}

const TEXT = ['text/plain', 'application/json'];

/**
 * Returns a function that looks up the media types that the model with this name accepts at present. The definition of
 * the model may change at any time.
 */
function inputOf(model: string, models: Models): (tenant: string) => Promise<CurrentInput> {
  return async (tenant) => {
    const { modes, changedAt } = await models.findInput(model, { tenant });
    return { ...declareInput(modes), ...(changedAt && { changedAt }) };
  };
}

/**
 * Returns the member `inputModes` of an agent: the media types that its model accepts. Returns an empty object if these
 * are only text and JSON.
 */
function declareInput(modes: readonly string[]): Pick<AgentDeclaration, 'inputModes'> {
  const more = modes.filter((mode) => !TEXT.includes(mode));
  return more.length > 0 ? { inputModes: [...TEXT, ...more] } : {};
}
