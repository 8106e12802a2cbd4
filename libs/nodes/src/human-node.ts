import type { AgentDeclaration, AgentExecutor, NodeProblem, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import {
  droppedData,
  parseDuration,
  InputSchema,
  InvalidInputSchema,
  addMilliseconds,
  readAnswer,
} from '#libs/expressions';
import {
  FORM_EXTENSION,
  formMessage,
  type FormQuestion,
  formQuestion,
  type JsonValue,
  type Message,
  type Part,
  statusUpdate,
  textPart,
} from '#libs/protocol';
import { HUMAN_CONFIG, humanProblems } from './flow-configs.js';
import { NodeExecutor, type NodeEvent, type NodeWork } from './node-executor.js';
import { filledIn } from './own-texts.js';
import { typedParts } from './result-parts.js';

/** `human`: asks the caller, and outputs the answer, which must conform to the form if there is one. */
export class HumanNode implements NodeType {
  readonly name = 'human';
  readonly configSchema = HUMAN_CONFIG;

  /** Returns the problems of a config. Its form is checked elsewhere, together with all schemas of a workflow. */
  findProblems(node: NodeSpec): NodeProblem[] {
    return humanProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new HumanExecutor(node);
  }
}

class HumanExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration;
  readonly #form: InputSchema | undefined;

  constructor(node: NodeSpec) {
    super(node);
    this.#form = usableSchema(node.config.form);
    const json = 'application/json';
    this.declares = {
      does: 'Asks a person, and answers with what they answer.',
      inputModes: ['text/plain', json],
      outputModes: this.#form ? [json] : ['text/plain', json],
      capabilities: { extensions: [FORM] },
    };
  }

  protected override async *performWork(context: RequestContext): NodeWork {
    const { task, userMessage } = context;
    const asked = task?.status.message;
    if (asked === undefined) {
      yield this.#firstQuestion(context);
      return undefined;
    }
    const read = this.#readFormAnswer(userMessage.parts);
    if ('answer' in read) return [read.answer];
    const { violations: _, ...question } = formQuestion(asked) ?? {};
    yield questionUpdate(context, asked.parts, { ...question, violations: read.violations });
    return undefined;
  }

  /** Reads an answer to the form. Texts beside its data are ignored; additional data is rejected. */
  #readFormAnswer(parts: readonly Part[]): ReturnType<typeof readAnswer> {
    const violations = droppedData(this.#form, parts);
    return violations.length > 0 ? { violations } : readAnswer(this.#form, parts);
  }

  #firstQuestion(context: RequestContext): NodeEvent {
    const { form, assignee } = this.node.config;
    const patience = parseDuration(this.node.onWait?.deadline);
    return questionUpdate(context, this.#promptParts(context.userMessage), {
      ...(this.#form && { form: form as FormQuestion['form'] }),
      ...(typeof assignee === 'string' && { assignee }),
      ...(patience !== undefined && { deadline: addMilliseconds(new Date(), patience).toISOString() }),
    });
  }

  /**
   * Returns the question: the Message, which in a run is the prompt; the filled-in prompt for a Message without text.
   */
  #promptParts(message: Message): Part[] {
    const parts = typedParts(message.parts);
    if (parts.some(({ text }) => text !== undefined && text !== '')) return parts;
    const { prompt } = this.node.config;
    const words = typeof prompt === 'string' ? filledIn(prompt, this.node, message) : '';
    const text = typeof words === 'string' ? words : JSON.stringify(words);
    return [textPart(text || 'An answer is needed'), ...parts.filter((part) => part.text === undefined)];
  }
}

/** Compiles a form. One that was saved under other rules and is invalid now is ignored. */
function usableSchema(form: JsonValue | undefined): InputSchema | undefined {
  try {
    return form === undefined ? undefined : InputSchema.fromJson(form);
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}

const FORM = {
  uri: FORM_EXTENSION,
  description:
    'A Message that asks says in its metadata, under this URI, what the answer has to be: { "form": JSON Schema of the ' +
    'data Part that answers, "assignee": a label, "deadline": until when, "violations": what was wrong with the last ' +
    'answer }. Each is left out where there is none; without a form the answer is a text.',
  required: false,
};

function questionUpdate(context: RequestContext, parts: Part[], question: FormQuestion): NodeEvent {
  const event = statusUpdate(context, 'TASK_STATE_INPUT_REQUIRED');
  event.statusUpdate.status.message = formMessage(context, parts, question);
  return event;
}
