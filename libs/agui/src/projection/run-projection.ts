import {
  type Artifact,
  failureNote,
  isJsonObject,
  isTerminalState,
  isWaitingState,
  joinedText,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type RunEventNote,
  runEventNote,
  type StreamResponse,
  type TaskStatus,
} from '#libs/protocol';
import { addOperation, type AguiEvent, type Interrupt } from './agui-event.js';
import { NodeSteps } from './node-steps.js';
import { OpenQuestions } from './open-questions.js';
import { TaskResults, TurnUsage } from './run-totals.js';
import { TextMessages } from './text-messages.js';
import { ToolCalls } from './tool-calls.js';

/** Run of AG-UI: one turn of a Task. */
export interface AguiTurn {
  threadId: string;
  runId: string;
  /** True for a client older than AG-UI 1.0, which fails at outcomes that it does not know. */
  isEarly: boolean;
  /** Sequence of the event of the Task's log that began the turn. */
  begun: number;
}

/** Texts of a `RUN_ERROR` for a Task that ended without a text, by its state. */
const SENTENCES: Readonly<Record<string, string>> = {
  canceled: 'The run was canceled',
  rejected: 'The message was rejected',
};

/** Types of nodes whose text is shown when they complete, even if they are not results of the run. */
const SPEAKING: ReadonlySet<string> = new Set(['agent', 'external']);

/**
 * Converts the log of a Task to the events of AG-UI for one of its turns (pure).
 * - The log alone determines the events: every replica sends the same events for the same log.
 * - Events before the turn are folded, and send nothing.
 * - At the end of the turn no step, message or tool call is open.
 */
export class RunProjection {
  private taskId = '';
  private readonly nodes = new NodeSteps();
  private readonly tools = new ToolCalls();
  private readonly questions = new OpenQuestions(() => this.taskId);
  private readonly results = new TaskResults();
  private texts = this.newTexts();
  private usage = new TurnUsage();
  private idsAt = { sequence: 0, count: 0 };
  private failure: { text?: string; kind?: string } = {};
  private over = false;

  constructor(private readonly turn: AguiTurn) {}

  /** True after the event that ended the turn. */
  get isOver(): boolean {
    return this.over;
  }

  /** Questions that are open now. */
  get interrupts(): Interrupt[] {
    return this.questions.listInterrupts();
  }

  /** Applies the next event of the log, and returns the events for the client. */
  projectEvent(sequence: number, response: StreamResponse): AguiEvent[] {
    if (this.over) return [];
    if ('task' in response) this.taskId = response.task.id;
    const opening = sequence === this.turn.begun ? this.beginTurn() : [];
    const events = this.projectResponse(sequence, response);
    return sequence < this.turn.begun ? [] : [...opening, ...events];
  }

  /** Returns the events for an agent that answers with a Message and without a Task. */
  projectReply({ messageId, parts }: Message): AguiEvent[] {
    const { threadId, runId } = this.turn;
    const text = joinedText(parts) ?? '';
    const said: AguiEvent[] =
      text === ''
        ? []
        : [
            { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
            { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text },
            { type: 'TEXT_MESSAGE_END', messageId },
          ];
    this.over = true;
    return [this.createStarted(), ...said, { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' } }];
  }

  /** Returns the events of a run that only repeats the open questions. */
  repeatQuestions(): AguiEvent[] {
    this.over = true;
    const begun = [...this.beginTurn(), ...this.nodes.finishAll()];
    return [...begun, this.changeRunStatus('input-required'), this.createFinished(this.interruptOutcome())];
  }

  private projectResponse(sequence: number, response: StreamResponse): AguiEvent[] {
    if ('task' in response) return this.projectStatus(sequence, response.task.status, response.task.metadata);
    if ('artifactUpdate' in response) {
      const { artifact, append = false, lastChunk = false, metadata } = response.artifactUpdate;
      this.results.addArtifact(artifact, append);
      const note = runEventNote(metadata);
      const how = { append, last: lastChunk };
      if (note) return this.projectStep(sequence, withArtifact(note, artifact), how);
      return this.projectArtifact(sequence, '', artifact, how);
    }
    if (!('statusUpdate' in response)) return [];
    const { status, metadata } = response.statusUpdate;
    const note = runEventNote(metadata);
    const events = note ? this.projectStep(sequence, note) : [];
    return [...events, ...this.projectStatus(sequence, status, metadata)];
  }

  private projectStatus(
    sequence: number,
    { state, message }: TaskStatus,
    metadata: JsonObject | undefined,
  ): AguiEvent[] {
    const text = joinedText(message?.parts ?? []) ?? '';
    if (isWaitingState(state)) return this.endWaiting(sequence, { text, wantsAuth: isAuth(state) }, metadata);
    if (isTerminalState(state)) return this.endTask(sequence, state, text, metadata);
    this.questions.closeQuestion('');
    return text === '' || runEventNote(metadata) ? [] : [this.createProgress('', text)];
  }

  private endWaiting(
    sequence: number,
    said: { text: string; wantsAuth: boolean },
    metadata: JsonObject | undefined,
  ): AguiEvent[] {
    this.questions.describeQuestions(metadata, sequence);
    if (this.questions.isEmpty) this.questions.openQuestion('', sequence, said);
    const events = this.closeAll();
    if (sequence <= this.turn.begun) return events;
    this.over = true;
    return [...events, this.changeRunStatus('input-required'), this.createFinished(this.interruptOutcome())];
  }

  private endTask(sequence: number, state: string, text: string, metadata: JsonObject | undefined): AguiEvent[] {
    const isCompleted = state === 'TASK_STATE_COMPLETED';
    const said = isCompleted && text !== '' ? this.texts.sayOnce(text, sequence) : [];
    const status = state.slice('TASK_STATE_'.length).toLowerCase();
    this.over = sequence >= this.turn.begun;
    const events = [...said, ...this.closeAll(), this.changeRunStatus(status)];
    if (isCompleted) return [...events, this.createFinished({ type: 'success' }, this.results.toMember())];
    if (state === 'TASK_STATE_CANCELED' && !this.turn.isEarly)
      return [...events, this.createFinished({ type: 'cancelled' })];
    const isFailed = state === 'TASK_STATE_FAILED';
    const code = isFailed ? (this.failure.kind ?? failureNote(metadata)?.kind ?? 'failed') : codeOf(status);
    const message = text || this.failure.text || SENTENCES[status] || 'The run failed';
    return [...events, { type: 'RUN_ERROR', message, code, ...this.usage.toMember() }];
  }

  /** Projects a step that the log records. @param how options of the Artifact update, if the event is one */
  private projectStep(sequence: number, note: RunEventNote, how = { append: false, last: true }): AguiEvent[] {
    const { type, payload } = note;
    const instance = note.instance ?? note.node_id;
    if (instance === undefined) return this.projectRunStep(note);
    switch (type) {
      case 'node.started':
        return [...this.nodes.startStep(instance), this.changeStatus(instance, 'running')];
      case 'node.completed':
      case 'node.reused':
        return [...this.completeNode(sequence, instance, note, how), ...this.endNode(instance, 'completed')];
      case 'node.error':
        return this.endNode(instance, 'failed');
      case 'node.canceled':
        return this.endNode(instance, 'canceled');
      case 'node.retrying':
        return [...this.texts.closeAll(instance), this.changeStatus(instance, 'retrying')];
      case 'node.waiting':
        return [...this.nodes.startStep(instance), this.changeStatus(instance, 'waiting')];
      case 'a2a.sending':
        this.questions.closeQuestion(instance);
        return typeof payload['taskId'] === 'string' ? [this.changeStatus(instance, 'running')] : [];
      case 'node.resumed':
        this.questions.closeQuestion(instance);
        return [this.changeStatus(instance, 'running')];
      case 'input.required':
        return this.openQuestion(sequence, instance, payload);
      case 'node.progress':
        return this.projectProgress(sequence, instance, payload);
      default:
        return this.projectModelStep(sequence, instance, note);
    }
  }

  private projectModelStep(sequence: number, instance: string, { type, payload }: RunEventNote): AguiEvent[] {
    switch (type) {
      case 'model.response':
      case 'model.error':
        this.usage.addCall(payload);
        return [];
      case 'tool.call':
        return this.tools.callEvents(instance, payload, this.createId(sequence));
      case 'tool.result':
      case 'tool.canceled':
        return this.tools.resultEvents(instance, payload, this.createId(sequence));
      default:
        return [];
    }
  }

  private projectRunStep({ type, payload }: RunEventNote): AguiEvent[] {
    if (type === 'workflow.failed') {
      const { error, failure } = payload;
      const kind = isJsonObject(failure) ? failure['kind'] : undefined;
      this.failure = { ...(typeof error === 'string' && { text: error }), ...(typeof kind === 'string' && { kind }) };
    }
    if (type !== 'node.skipped' || !Array.isArray(payload['instances'])) return [];
    const names = payload['instances'].filter((it) => typeof it === 'string');
    const delta = names.map((it) => this.nodes.setStatus(it, 'skipped'));
    return delta.length === 0 ? [] : [{ type: 'STATE_DELTA', delta }];
  }

  /** Projects the end of a node: the rest of its text, and other content of its Artifacts. */
  private completeNode(
    sequence: number,
    instance: string,
    { node_type: nodeType, payload }: RunEventNote,
    how: { append: boolean; last: boolean },
  ): AguiEvent[] {
    const isShown = payload['shown'] === true || SPEAKING.has(nodeType ?? '');
    const artifacts = (Array.isArray(payload['artifacts']) ? payload['artifacts'] : []) as unknown as Artifact[];
    if (!isShown) return [];
    return artifacts.flatMap((artifact) => {
      // The agent may have streamed the text under another name. A message with the same text is not repeated.
      const streamed = this.texts.isOpen(instance, artifact.artifactId) ? [] : this.texts.closeAll(instance);
      return [...streamed, ...this.projectArtifact(sequence, instance, artifact, how)];
    });
  }

  private endNode(instance: string, status: string): AguiEvent[] {
    this.questions.closeQuestion(instance);
    return [...this.texts.closeAll(instance), ...this.nodes.finishStep(instance), this.changeStatus(instance, status)];
  }

  private openQuestion(sequence: number, instance: string, { question, state }: JsonObject): AguiEvent[] {
    const text = typeof question === 'string' ? question : '';
    this.questions.openQuestion(instance, sequence, { text, wantsAuth: state === 'auth-required' });
    return [this.changeStatus(instance, 'input-required')];
  }

  private projectProgress(sequence: number, instance: string, payload: JsonObject): AguiEvent[] {
    const { text, artifact, tool } = payload;
    if (typeof text === 'string' && text !== '') return [this.createProgress(instance, text, tool)];
    if (!isJsonObject(artifact) || tool !== undefined || !Array.isArray(artifact['parts'])) return [];
    const how = { append: artifact['append'] === true, last: false };
    return this.projectArtifact(sequence, instance, artifact as unknown as Artifact, how);
  }

  /** Projects an Artifact: its text as a message, and an activity for data and files. */
  private projectArtifact(
    sequence: number,
    instance: string,
    { artifactId, name, parts }: Artifact,
    how: { append: boolean; last: boolean },
  ): AguiEvent[] {
    const text = joinedText(parts);
    const others = parts.filter((part) => part.text === undefined).map(withoutBytes);
    const said = text === undefined && others.length > 0 ? [] : [{ artifactId, instance, text: text ?? '', ...how }];
    return [
      ...said.flatMap((piece) => this.texts.addPiece(piece, sequence)),
      ...(others.length === 0 ? [] : [this.createActivity('artifact', instance, { artifactId, name, parts: others })]),
    ];
  }

  private beginTurn(): AguiEvent[] {
    const { threadId } = this.turn;
    this.texts = this.newTexts();
    this.usage = new TurnUsage();
    const value = { taskId: this.taskId, contextId: threadId, status: 'working', nodes: this.nodes.nodes };
    const state = { type: 'STATE_DELTA', delta: [addOperation('/parley', value)] };
    return [this.createStarted(), state, ...this.nodes.reopenSteps()];
  }

  private createStarted(): AguiEvent {
    const { threadId, runId, isEarly } = this.turn;
    return { type: 'RUN_STARTED', threadId, runId, ...(!isEarly && { protocolVersion: '1.0' }) };
  }

  private createFinished(outcome: JsonObject, result: JsonObject = {}): AguiEvent {
    const { threadId, runId } = this.turn;
    return { type: 'RUN_FINISHED', threadId, runId, ...result, outcome, ...this.usage.toMember() };
  }

  private interruptOutcome(): JsonObject {
    return { type: 'interrupt', interrupts: this.interrupts };
  }

  private closeAll(): AguiEvent[] {
    return [...this.texts.closeAll(), ...this.nodes.finishAll()];
  }

  private changeStatus(instance: string, status: string): AguiEvent {
    return { type: 'STATE_DELTA', delta: [this.nodes.setStatus(instance, status)] };
  }

  private changeRunStatus(status: string): AguiEvent {
    return { type: 'STATE_DELTA', delta: [addOperation('/parley/status', status)] };
  }

  /** Returns the activity with the newest status text of an agent; it replaces the one before. */
  private createProgress(instance: string, text: string, tool?: JsonValue): AguiEvent {
    return this.createActivity('progress', instance, { text, ...(tool !== undefined && { tool }) });
  }

  private createActivity(kind: string, instance: string, content: Record<string, unknown>): AguiEvent {
    const { artifactId } = content;
    const id = [this.taskId, kind, instance, ...(typeof artifactId === 'string' ? [artifactId] : [])].join('.');
    const shown = { ...(instance !== '' && { node: instance }), ...content } as JsonObject;
    if (shown['name'] === undefined) delete shown['name'];
    return { type: 'ACTIVITY_SNAPSHOT', messageId: id, activityType: `parley.${kind}`, content: shown, replace: true };
  }

  private newTexts(): TextMessages {
    return new TextMessages((sequence) => this.createId(sequence));
  }

  /** Returns the next id of a message at a position in the log. */
  private createId(sequence: number): string {
    const count = this.idsAt.sequence === sequence ? this.idsAt.count + 1 : 1;
    this.idsAt = { sequence, count };
    return count === 1 ? `${this.taskId}.${sequence}` : `${this.taskId}.${sequence}.${count}`;
  }
}

/** Prefix of the ids of the messages of a Task, for `isMessageOfTurn`. */
const MESSAGE_ID = /^(.+?)\.(\d{1,10})(?:\.\d+)?$/;

/** True for the id of a message that a turn of a Task has sent. @param begun sequence at which the turn began */
export function isMessageOfTurn(id: string, taskId: string, begun: number): boolean {
  const [, of, sequence] = MESSAGE_ID.exec(id) ?? [];
  return of === taskId && Number(sequence) >= begun;
}

/** Returns the note of an Artifact that is a result of the run, with the Artifact in its payload. */
function withArtifact(note: RunEventNote, artifact: Artifact): RunEventNote {
  const artifacts = note.payload['artifacts'] ?? ([artifact] as unknown as JsonValue);
  return { ...note, payload: { ...note.payload, artifacts, shown: true } };
}

/** Returns a Part without its bytes, of which the client gets the number. */
function withoutBytes({ raw, ...part }: Part): JsonObject {
  const bytes = raw === undefined ? {} : { bytes: Math.floor((raw.length * 3) / 4) };
  return { ...part, ...bytes } as JsonObject;
}

function isAuth(state: string): boolean {
  return state === 'TASK_STATE_AUTH_REQUIRED';
}

/** Returns the code of a `RUN_ERROR`, in the spelling of AG-UI. */
function codeOf(status: string): string {
  return status === 'canceled' ? 'cancelled' : status;
}
