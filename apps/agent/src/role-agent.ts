import { AgentExecutor, BRAINSTORM_ENTRY, type RequestContext } from '#libs/agents';
import {
  InvalidState,
  isRole,
  llmFaults,
  readState,
  type BrainstormRole,
  STATE_SCHEMA,
  type StateContent,
  stateFaults,
  workByRules,
} from '#libs/brainstorm';
import {
  ModelError,
  type ModelMessage,
  type Models,
  type ModelUsage,
  StructuredAnswer,
  wholeAnswer,
} from '#libs/models';
import {
  artifactUpdate,
  briefText,
  dataPart,
  firstData,
  invalidParams,
  isJsonObject,
  type JsonObject,
  type Message,
  type SendMessageRequest,
  statusUpdate,
  textPart,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** Model settings that a brainstorm requests. If a setting is absent, the agent's default applies. */
interface AskedModel {
  provider?: string;
  model?: string;
  temperature?: number;
  maxTokens?: number;
}

/** State that the agent has changed. */
interface ChangedState {
  state: StateContent;
  /**
   * Report for the brainstorm: the faults of answers that the model had to correct, and the number of tokens used.
   * Absent if the agent works by rules.
   */
  report?: JsonObject;
}

/** Provider name that requests no particular provider: the agent may use any provider. */
const ANY_PROVIDER = 'parley';

/**
 * Payload of a brainstorm's request, read from the four members of its data Part (`role`, `systemPrompt`, `llmConfig`,
 * `state`).
 */
interface RolePayload {
  role: BrainstormRole;
  systemPrompt: string;
  llm: AskedModel;
  state: StateContent;
  /**
   * Member `state` exactly as the brainstorm sent it. The members that StateContent does not have, such as `meta`, are
   * returned unchanged in the answer.
   */
  sent: JsonObject;
}

/**
 * Executor of an agent that takes part in brainstorms. The answer is the received state, changed as the agent's role
 * demands: by a model if one is configured, otherwise by fixed rules. A successful Task has four events: SUBMITTED,
 * WORKING, the Artifact with the changed state, COMPLETED. A failed Task has no Artifact.
 */
export class RoleAgent extends AgentExecutor {
  override readonly recovery = 'restart';

  /**
   * @param role role for a request that names none
   * @param models absent for an agent that works by rules
   */
  constructor(
    private readonly role: BrainstormRole,
    private readonly models?: Models,
  ) {
    super();
  }

  override checkRequest({ message }: SendMessageRequest): void {
    this.readPayload(message);
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const payload = this.readPayload(context.userMessage);
    if (context.recovered === 0) yield statusUpdate(context, 'TASK_STATE_WORKING');
    if (context.recovered < 2) {
      const answer = await this.changeState(payload, context.signal);
      if (typeof answer === 'string') return yield statusUpdate(context, 'TASK_STATE_FAILED', `Error: ${answer}`);
      const { state, report } = answer;
      const parts = [dataPart({ ...payload.sent, ...state } as unknown as JsonObject)];
      const metadata = report && { [BRAINSTORM_ENTRY]: report };
      yield artifactUpdate(
        context,
        { artifactId: 'state', name: 'state', parts, ...(metadata && { metadata }) },
        { lastChunk: true },
      );
    }
    yield statusUpdate(context, 'TASK_STATE_COMPLETED');
  }

  /** Returns the changed state, or the reason why the model gave none. */
  private async changeState(payload: RolePayload, signal: AbortSignal): Promise<ChangedState | string> {
    if (this.models === undefined) return { state: workByRules(payload.role, payload.state) };
    try {
      return await askModel(this.models, payload, signal);
    } catch (error) {
      if (error instanceof ModelError) return error.message;
      if (error instanceof InvalidState) return `the model's answer is not a state: ${error.message}`;
      throw error;
    }
  }

  /** Reads the payload of a Message. @throws A2AError INVALID_PARAMS naming the field */
  private readPayload({ parts }: Message): RolePayload {
    const data = firstData(parts);
    if (!isJsonObject(data))
      throw invalidParams({ field: 'message.parts', description: 'must have exactly one data Part' });
    const { role = this.role, systemPrompt, llmConfig, state: sent } = data;
    if (!isRole(role)) throw invalidParams({ field: 'data.role', description: 'is not a role' });
    if (!isJsonObject(sent)) throw invalidParams({ field: 'data.state', description: 'must be an object' });
    return {
      role,
      systemPrompt: typeof systemPrompt === 'string' ? systemPrompt : '',
      llm: isJsonObject(llmConfig) ? askedModel(llmConfig) : {},
      state: stateIn(sent),
      sent,
    };
  }
}

/** Reads the model settings of a payload. @throws A2AError INVALID_PARAMS naming the field */
function askedModel(llmConfig: JsonObject): AskedModel {
  const { provider, model, temperature, max_tokens: maxTokens } = llmConfig;
  const [fault] = llmFaults(llmConfig);
  if (fault) throw invalidParams({ field: `data.llmConfig.${fault.member}`, description: fault.rule });
  return {
    ...(typeof provider === 'string' && provider !== ANY_PROVIDER && { provider }),
    ...(typeof model === 'string' && model !== 'echo' && { model }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
  };
}

function stateIn(sent: JsonObject): StateContent {
  try {
    return readState(sent);
  } catch (error) {
    if (error instanceof InvalidState) throw invalidParams({ field: 'data.state', description: error.message });
    throw error;
  }
}

/** Maximum number of times that the model is asked to correct an invalid answer. */
const MOST_REPAIRS = 1;

/**
 * Calls the model for the changed state. An answer that is not a valid state is sent back once, with its faults.
 * @throws InvalidState with the faults of both answers; ModelError if the model gives no complete answer
 */
async function askModel(models: Models, payload: RolePayload, signal: AbortSignal): Promise<ChangedState> {
  const { provider, model: name, temperature, maxTokens } = payload.llm;
  const model = await models.findModel(name, { tenant: '', signal });
  if (provider !== undefined && provider !== model.provider)
    throw new ModelError(`this agent has no provider "${briefText(provider)}"`);
  const structure = new StructuredAnswer(STATE_SCHEMA, {
    rules: { faults: (value) => stateFaults(value, payload.state) },
  });
  const messages = openingMessages(payload);
  const faults: string[] = [];
  const usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  while (faults.length <= MOST_REPAIRS) {
    const { parts, end } = await wholeAnswer(model, {
      ...(temperature !== undefined && { temperature }),
      ...(maxTokens !== undefined && { maxTokens }),
      messages,
      output: STATE_SCHEMA,
      isOutputDescribed: payload.systemPrompt.includes(JSON.stringify(STATE_SCHEMA)),
      signal,
    });
    usage.inputTokens += end.usage?.inputTokens ?? 0;
    usage.outputTokens += end.usage?.outputTokens ?? 0;
    const read = structure.readValue(parts);
    if ('value' in read) {
      const state = readState(read.value, payload.state);
      return { state, report: { repairs: faults, usage: { ...usage } } };
    }
    faults.push(read.fault);
    messages.push({ role: 'assistant', parts }, { role: 'user', parts: [textPart(structure.complaintAbout(parts))] });
  }
  throw new InvalidState(faults.join('; nor is the answer after that: '));
}

function openingMessages({ systemPrompt, sent }: RolePayload): ModelMessage[] {
  const user: ModelMessage = { role: 'user', parts: [textPart(JSON.stringify(sent))] };
  const said = systemPrompt.trim();
  return said === '' ? [user] : [{ role: 'system', parts: [textPart(said)] }, user];
}
