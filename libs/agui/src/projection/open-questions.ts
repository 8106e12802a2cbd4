import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';
import { type Interrupt, interruptId } from './agui-event.js';

/** Metadata key of a waiting status: the questions of the nodes of a run. */
const WAITING_KEY = 'parley/waiting';
/** Maximum number of characters in the text about a rejected answer. */
const LONGEST_COMPLAINT = 2_000;

interface Question {
  /** Sequence of the event that opened the question. */
  sequence: number;
  text: string;
  wantsAuth: boolean;
  form?: JsonObject;
  assignee?: string;
  deadline?: string;
  violations?: JsonValue[];
}

/** Open questions of a Task, by the node instance that asks; `''` for the question of an agent without nodes. */
export class OpenQuestions {
  private readonly questions = new Map<string, Question>();

  constructor(private readonly taskId: () => string) {}

  get isEmpty(): boolean {
    return this.questions.size === 0;
  }

  /** Notes a question. A question that is open already keeps its id. */
  openQuestion(instance: string, sequence: number, { text, wantsAuth }: Pick<Question, 'text' | 'wantsAuth'>): void {
    const known = this.questions.get(instance);
    this.questions.set(instance, { ...known, sequence: known?.sequence ?? sequence, text, wantsAuth });
  }

  /** Notes that a question was answered, or is no longer asked. */
  closeQuestion(instance: string): void {
    this.questions.delete(instance);
  }

  /** Adds what the metadata of a waiting status say about the questions: forms, deadlines, rejected answers. */
  describeQuestions(metadata: JsonObject | undefined, sequence: number): void {
    const waiting = metadata?.[WAITING_KEY];
    for (const asked of Array.isArray(waiting) ? waiting.filter(isJsonObject) : []) {
      const { instance, text, form, assignee, deadline, violations } = asked;
      if (typeof instance !== 'string') continue;
      const known = this.questions.get(instance);
      this.questions.set(instance, {
        sequence: known?.sequence ?? sequence,
        wantsAuth: known?.wantsAuth ?? false,
        text: typeof text === 'string' ? text : (known?.text ?? ''),
        ...(isJsonObject(form) && { form }),
        ...(typeof assignee === 'string' && { assignee }),
        ...(typeof deadline === 'string' && { deadline }),
        ...(Array.isArray(violations) && { violations }),
      });
    }
  }

  /** Returns the open questions as interrupts, in the order in which they were asked. */
  listInterrupts(): Interrupt[] {
    return [...this.questions]
      .toSorted(([, a], [, b]) => a.sequence - b.sequence)
      .map(([instance, question]) => this.toInterrupt(instance, question));
  }

  private toInterrupt(instance: string, question: Question): Interrupt {
    const { sequence, text, wantsAuth, form, assignee, deadline, violations } = question;
    const complaint = violations === undefined ? '' : complaintOf(violations);
    const metadata: JsonObject = {
      ...(instance !== '' && { 'parley/node': instance }),
      ...(assignee !== undefined && { 'parley/assignee': assignee }),
      ...(violations !== undefined && { 'parley/violations': violations }),
    };
    return {
      id: interruptId(this.taskId(), sequence, instance),
      reason: wantsAuth ? 'auth_required' : 'input_required',
      message: complaint === '' ? text : `${text}\n\nThe previous answer was rejected: ${complaint}`,
      ...(form && { responseSchema: form }),
      ...(deadline !== undefined && { expiresAt: deadline }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    };
  }
}

function complaintOf(violations: readonly JsonValue[]): string {
  const said = violations
    .filter(isJsonObject)
    .map(({ field, description }) => [field, description].filter((it) => typeof it === 'string').join(': '));
  return textStart(said.join('; '), LONGEST_COMPLAINT);
}
