import { Injectable } from '@nestjs/common';
import { NodeTypes } from '#libs/agents';
import { hasMoreMembers, ProblemError } from '#libs/http-server';
import { coalesceText, type Model, type ModelEnd, ModelError, type ModelEvent, type ModelMessage } from '#libs/models';
import { isJsonObject, jsonInText, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import { AppConfig } from '#libs/service';
import type { WorkflowProblem } from '#libs/workflow-definition';
import { WorkflowCheck, WorkflowStore } from '#libs/workflows';
import { type ChangedDefinition, CurrentDefinition } from './current-definition.js';
import type { GenerateBody, GeneratedWorkflow } from './generate-body.js';
import { MOST_ATTEMPTS, MOST_TOKENS, TokenBudget } from './generation-limits.js';
import { failedModel, GenerationModels, unusableAnswer } from './generation-models.js';
import { charactersOf, GenerationPrompt, Nameable, repairMessages } from './generation-prompt.js';

/** Maximum nesting depth of the JSON of a definition. */
const DEEPEST = 100;

/**
 * Returns the definition in an answer of a model, which may have text or a code fence around it; `undefined` if the
 * answer has no JSON object.
 * @param mostMembers maximum number of members and elements of the JSON
 */
function writtenDefinition(answer: string, mostMembers: number): JsonObject | undefined {
  const found = jsonInText(answer, {
    read: (json) => (hasMoreMembers(json, mostMembers) ? undefined : tryParseJson(json, DEEPEST)),
    fits: isLikeDefinition,
  });
  return isJsonObject(found) ? found : undefined;
}

/**
 * True if a value has a list of nodes, as every definition has. The text around a definition may contain other JSON.
 */
function isLikeDefinition(value: JsonValue): boolean {
  return isJsonObject(value) && Array.isArray(value['nodes']);
}

/** Milliseconds that text of a model is held back before `generate.progress` reports it. */
const PROGRESS_MS = 250;

/** Event of a generation. The last event is `done`. */
export type GenerationEvent =
  | { type: 'generate.started'; data: { model: string } }
  | { type: 'generate.progress'; data: { text: string } }
  | { type: 'generate.draft'; data: { workflow: JsonObject; problems: WorkflowProblem[]; attempt: number } }
  | { type: 'generate.repair'; data: { attempt: number; problems: WorkflowProblem[] } }
  | { type: 'done'; data: GeneratedWorkflow };

/** Tenant of a request, and the signal that cancels the request. */
export interface GenerationCall {
  tenant: string;
  signal: AbortSignal;
}

/** Generation that is prepared and not yet started. */
export interface Generation {
  /**
   * Calls the model, checks its answer, and lets it repair errors at most twice. Saves nothing.
   * @throws ProblemError 502 if the model fails, or its answer has no JSON object
   * @throws the reason of the signal
   */
  runEvents(): AsyncGenerator<GenerationEvent, void, void>;
}

/** Generates definitions of workflows with a model. */
@Injectable()
export class WorkflowGenerator {
  private prompt: GenerationPrompt | undefined;

  constructor(
    private readonly models: GenerationModels,
    private readonly names: Nameable,
    private readonly nodeTypes: NodeTypes,
    private readonly checks: WorkflowCheck,
    private readonly workflows: WorkflowStore,
    private readonly config: AppConfig,
  ) {}

  /**
   * Prepares a generation. No model is called before `runEvents` is read.
   * @throws ProblemError 422 for an unknown model; 413 if the prompt alone has too many tokens
   */
  async beginGeneration(body: GenerateBody, { tenant, signal }: GenerationCall): Promise<Generation> {
    const name = body.model || undefined;
    const current = body.current ? new CurrentDefinition(body.current) : undefined;
    const visible = current?.visible;
    const model = await this.models.findModel({ tenant, name, signal });
    const names = await this.names.listNames(tenant, signal);
    this.prompt ??= new GenerationPrompt(this.nodeTypes);
    const messages = this.prompt.firstMessages({ description: body.description, current: visible, names });
    const budget = new TokenBudget();
    if (!budget.hasRoomFor(charactersOf(messages))) throw tooLarge();
    const drafted = { model, isNamed: name !== undefined, budget, signal };
    const finishDefinition = (answer: JsonObject): ChangedDefinition => {
      const { workflow, lost } = current?.applyAnswer(answer) ?? { workflow: answer, lost: [] };
      return { workflow: { ...workflow, ...(typeof body.name === 'string' && { name: body.name }) }, lost };
    };
    return { runEvents: () => this.generateEvents(drafted, messages, finishDefinition, tenant) };
  }

  private async *generateEvents(
    call: DraftCall,
    messages: ModelMessage[],
    finished: (answer: JsonObject) => ChangedDefinition,
    tenant: string,
  ): AsyncGenerator<GenerationEvent, void, void> {
    const { model, budget, signal } = call;
    yield { type: 'generate.started', data: { model: model.name } };
    for (let attempt = 1; ; attempt += 1) {
      const answer = yield* draftAnswer(call, messages);
      const written = writtenDefinition(answer, this.config.content.jsonMembers);
      if (written === undefined) throw unusableAnswer(model.name, 'did not answer with a JSON object');
      const { workflow, lost } = finished(written);
      const found = await this.checks.findProblems(workflow, this.workflows.inTenant(tenant));
      const problems = [...found, ...lost];
      signal.throwIfAborted();
      yield { type: 'generate.draft', data: { workflow, problems, attempt } };
      // A model cannot restore a lost credential.
      const repair = repairMessages(answer, found);
      const isLast =
        !problems.some(({ severity }) => severity === 'error') ||
        attempt === MOST_ATTEMPTS ||
        !budget.hasRoomFor(charactersOf([...messages, ...repair]));
      if (isLast) {
        yield { type: 'done', data: { workflow, problems, attempts: attempt, model: model.name, usage: budget.usage } };
        return;
      }
      yield { type: 'generate.repair', data: { attempt: attempt + 1, problems } };
      messages.push(...repair);
    }
  }
}

/** Model to call for one request, and the limits of the request. */
interface DraftCall {
  model: Model;
  /** True if the caller named the model. */
  isNamed: boolean;
  budget: TokenBudget;
  signal: AbortSignal;
}

/**
 * Calls the model once, and yields its text as `generate.progress`. @returns the whole text
 * @throws ProblemError 502
 */
async function* draftAnswer(
  call: DraftCall,
  messages: readonly ModelMessage[],
): AsyncGenerator<GenerationEvent, string, void> {
  const { model, isNamed, budget, signal } = call;
  const prompt = charactersOf(messages);
  const most = budget.answerCharacters(prompt);
  let answer = '';
  let end: ModelEnd | undefined;
  const tooLong = unusableAnswer(model.name, `answered with more than ${MOST_TOKENS} tokens`);
  try {
    const events = limitText(model.streamAnswer({ messages: [...messages], signal }), most, tooLong);
    const pieces = coalesceText<Exclude<ModelEvent, { text: string }>>(events, { heldMs: PROGRESS_MS });
    for await (const { text, event } of pieces) {
      answer += text;
      if (text !== '') yield { type: 'generate.progress', data: { text } };
      if (event && 'end' in event) end = event.end;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ModelError ? failedModel(error, isNamed) : error;
  }
  signal.throwIfAborted();
  if (end === undefined) throw failedModel(new ModelError(`model "${model.name}" broke off`), isNamed);
  budget.add(prompt, answer.length, end.usage);
  return answer;
}

/** Passes events on. Throws `tooLong` once their text has more than `most` characters. */
async function* limitText(events: AsyncIterable<ModelEvent>, most: number, tooLong: Error): AsyncGenerator<ModelEvent> {
  let characters = 0;
  for await (const event of events) {
    if ('text' in event) characters += event.text.length;
    if (characters > most) throw tooLong;
    yield event;
  }
}

function tooLarge(): ProblemError {
  const detail = `makes a prompt of more than ${MOST_TOKENS} tokens`;
  return new ProblemError(413, `current ${detail}`, [{ path: 'current', detail }]);
}
