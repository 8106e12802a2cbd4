import { joinedParts } from '../api/parts.js';
import type { A2aPart } from '../api/task.js';
import { END, partsIn, QUESTION, TEXT, type WorkEvent } from './work-event.js';

/** A call of a model, with its answer or error. */
export interface ModelStep {
  kind: 'model';
  key: string;
  step: number;
  model: string;
  from?: string | undefined;
  to?: string | undefined;
  state: 'running' | 'completed' | 'failed' | 'canceled';
  /** Parts of the model's answer so far. */
  parts: readonly A2aPart[];
  usage?: StepTokenUsage;
  error?: string;
  /** Model that was called in place of this one, which failed (fallback); absent if none was. */
  next?: string;
}

/** A call of a tool, from the moment the model requested it. */
export interface ToolStep {
  kind: 'tool';
  key: string;
  /** Id of the call, if it has one. Ids may repeat between answers of the model. */
  id?: string;
  tool: string;
  /** Arguments of the call; missing if the events begin after it. */
  args?: unknown;
  /** State of the call. `pending`: requested, but not yet started. */
  state: 'pending' | 'input-required' | 'running' | 'completed' | 'failed' | 'canceled';
  from?: string | undefined;
  to?: string | undefined;
  result?: unknown;
  error?: string;
  truncated?: boolean;
  /** Number of attempts to call the tool. */
  made: number;
  /** Question to a person about the call, and its answer. */
  question?: ToolQuestion;
  /**
   * Task of the agent that was called as a tool; missing for a remote agent, whose Task has no page in this console.
   */
  taskId?: string;
  /** True once the called agent has a Task. */
  isCalled?: true;
}

export interface ToolQuestion {
  text: string;
  at?: string | undefined;
  answeredAt?: string | undefined;
  answer?: 'yes' | 'no';
  /** True if the called agent asked the question; the answer then went to that agent. */
  byAgent?: true;
}

export interface StepTokenUsage {
  inputTokens: number;
  outputTokens: number;
}

type WorkStep = ModelStep | ToolStep;

/** Steps of an agent. */
export interface Transcript {
  steps: readonly WorkStep[];
  usage: StepTokenUsage;
  /** Parts of the agent's answer so far. */
  parts: readonly A2aPart[];
}

/** Folds an agent's events into a transcript. The same events always give the same transcript. */
export function transcriptOf(work: readonly WorkEvent[]): Transcript {
  const fold = new TranscriptFold();
  for (const event of work) fold.foldEvent(event);
  return { steps: fold.steps, usage: fold.usage, parts: fold.parts };
}

class TranscriptFold {
  readonly steps: WorkStep[] = [];
  readonly usage: StepTokenUsage = { inputTokens: 0, outputTokens: 0 };
  parts: A2aPart[] = [];

  foldEvent(event: WorkEvent): void {
    const { type, payload, at } = event;
    if (type === 'model.request') this.startModelStep(payload, at);
    else if (type === TEXT) this.appendAnswer(event);
    else if (type === 'model.response') this.completeModelStep(payload, at);
    else if (type === 'model.error') this.failModelStep(payload, at);
    else if (type === 'tool.call') this.startToolCall(payload, at);
    else if (type === 'tool.called') this.recordToolTask(payload);
    else if (type === 'tool.result') this.recordToolResult(payload, at);
    else if (type === QUESTION) this.recordQuestion(payload, at);
    else if (type === END) this.cancelOpenSteps(at);
  }

  private startModelStep({ model, step }: WorkEvent['payload'], at: string | undefined): void {
    // An interrupted step is repeated. The interrupted attempt has no end event.
    const open = this.findOpenModelStep();
    if (open) Object.assign(open, { state: 'canceled', to: at });
    this.parts = [];
    this.steps.push({
      kind: 'model',
      key: `model ${this.steps.length}`,
      step: Number(toPlainText(step)),
      model: toPlainText(model),
      from: at,
      state: 'running',
      parts: [],
    });
  }

  private appendAnswer(event: WorkEvent): void {
    const added = partsIn(event);
    this.parts = event.payload['append'] === true ? joinedParts([...this.parts, ...added]) : joinedParts(added);
    const open = this.findOpenModelStep();
    if (open) open.parts = this.parts;
  }

  private completeModelStep({ usage, toolCalls }: WorkEvent['payload'], at: string | undefined): void {
    const open = this.findOpenModelStep();
    if (!open) return;
    Object.assign(open, { state: 'completed', to: at });
    if (isUsage(usage)) {
      open.usage = usage;
      this.usage.inputTokens += usage.inputTokens;
      this.usage.outputTokens += usage.outputTokens;
    }
    for (const asked of Array.isArray(toolCalls) ? toolCalls.filter(isPayload) : []) this.planToolCall(asked);
  }

  private failModelStep({ message, next }: WorkEvent['payload'], at: string | undefined): void {
    const open = this.findOpenModelStep();
    if (!open) return;
    Object.assign(open, { state: 'failed', to: at, error: toPlainText(message) });
    if (typeof next === 'string') open.next = next;
  }

  private planToolCall({ tool, args, id }: WorkEvent['payload']): ToolStep {
    const key = `tool ${this.steps.length}`;
    const step: ToolStep = { kind: 'tool', key, tool: toPlainText(tool), args, state: 'pending', made: 0 };
    if (typeof id === 'string') step.id = id;
    this.steps.push(step);
    return step;
  }

  private startToolCall(payload: WorkEvent['payload'], at: string | undefined): void {
    const step = this.findOpenCall(payload) ?? this.planToolCall(payload);
    this.recordAnswer(step, 'yes', at);
    Object.assign(step, { state: 'running', from: step.from ?? at, made: step.made + 1 });
  }

  private recordToolTask(payload: WorkEvent['payload']): void {
    const step = this.findOpenCall(payload);
    const { agent, taskId } = payload;
    if (!step || typeof taskId !== 'string') return;
    step.isCalled = true;
    if (typeof agent === 'string' && !/^https?:/i.test(agent)) step.taskId = taskId;
  }

  private recordToolResult(payload: WorkEvent['payload'], at: string | undefined): void {
    const step = this.findOpenCall(payload) ?? this.findEarlierCall(payload) ?? this.planToolCall(payload);
    this.recordAnswer(step, 'no', at);
    const { result, error, truncated } = payload;
    const outcome = typeof error === 'string' ? { error } : { result };
    Object.assign(step, { state: 'error' in outcome ? 'failed' : 'completed', to: at, ...outcome });
    if (truncated === true) step.truncated = true;
  }

  /** Records a question to a person. Calls run one after another, so a question belongs to the first open call. */
  private recordQuestion({ text }: WorkEvent['payload'], at: string | undefined): void {
    const next = this.steps.find((it) => it.kind === 'tool' && isOpen(it));
    if (next?.kind !== 'tool') return;
    next.state = 'input-required';
    const byAgent = next.isCalled && { byAgent: true as const };
    next.question = { text: typeof text === 'string' ? text : '', at, ...byAgent };
  }

  private recordAnswer({ question }: ToolStep, answer: 'yes' | 'no', at: string | undefined): void {
    if (question?.byAgent) question.answeredAt ??= at;
    else if (question && question.answer === undefined) Object.assign(question, { answer, answeredAt: at });
  }

  private cancelOpenSteps(at: string | undefined): void {
    for (const step of this.steps) if (isOpen(step)) Object.assign(step, { state: 'canceled', to: at });
  }

  private findOpenModelStep(): ModelStep | undefined {
    const last = this.steps.findLast((it) => it.kind === 'model');
    return last?.kind === 'model' && last.state === 'running' ? last : undefined;
  }

  /**
   * Returns the open call that an event is about: by the call's id, or without an id by the tool, since the only call
   * of a tool node has no id.
   */
  private findOpenCall({ id, tool }: WorkEvent['payload']): ToolStep | undefined {
    const calls = this.calls.filter(isOpen);
    return typeof id === 'string' ? calls.find((it) => it.id === id) : calls.find((it) => it.tool === tool);
  }

  /**
   * Returns the last call with the id in an event, open or ended: a reader that reconnects may receive the result of a
   * call again.
   */
  private findEarlierCall({ id }: WorkEvent['payload']): ToolStep | undefined {
    return typeof id === 'string' ? this.calls.findLast((it) => it.id === id) : undefined;
  }

  private get calls(): ToolStep[] {
    return this.steps.filter((it) => it.kind === 'tool');
  }
}

function isOpen({ state }: WorkStep): boolean {
  return state === 'pending' || state === 'input-required' || state === 'running';
}

/** Returns a text or number as text, and any other value as `''`: remote agents may send anything. */
function toPlainText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function isPayload(value: unknown): value is WorkEvent['payload'] {
  return typeof value === 'object' && value !== null;
}

function isUsage(value: unknown): value is StepTokenUsage {
  const { inputTokens, outputTokens } = (value ?? {}) as Partial<StepTokenUsage>;
  return typeof inputTokens === 'number' && typeof outputTokens === 'number';
}

/** Returns the agent's current activity in a word or two; `undefined` if no step is open. */
export function doingNow({ steps }: Transcript): string | undefined {
  const last = steps.findLast(({ state }) => state === 'running' || state === 'input-required');
  if (last?.kind === 'tool') return last.state === 'running' ? `calls ${last.tool}` : `asks about ${last.tool}`;
  return last && (last.parts.length > 0 ? 'writes' : `asks ${last.model}`);
}

/** Formats the numbers of input and output tokens, as the provider counts them: `120 → 45 tokens`; '' if both are 0. */
export function formatTokens({ inputTokens, outputTokens }: StepTokenUsage): string {
  if (inputTokens + outputTokens === 0) return '';
  return `${inputTokens.toLocaleString()} → ${outputTokens.toLocaleString()} tokens`;
}
