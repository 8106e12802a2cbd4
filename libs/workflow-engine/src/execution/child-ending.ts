import { Logger } from '@nestjs/common';
import { AgentCallError, type CalledTask } from '#libs/a2a-client';
import { type PartRestorer, registeredAgentPath, type RequestContext } from '#libs/agents';
import { type CallFailure, type CallOutcome, isLeftWaiting, statusTextOf } from '#libs/durable';
import { InputSchema } from '#libs/expressions';
import { hasMoreMembers, tooManyMembers, tryParseFitJson } from '#libs/http-server';
import {
  A2A_ERRORS,
  A2AError,
  type Artifact,
  briefText,
  dataPart,
  failureNote,
  type FieldViolation,
  firstData,
  type FormQuestion,
  formQuestion,
  isFilePart,
  joinedText,
  jsonInText,
  type JsonValue,
  mergedTexts,
  type Message,
  type Part,
  redactedUrl,
  type RunEventNote,
  type TaskState,
} from '#libs/protocol';
import {
  type FailureKind,
  isFailureKind,
  mayReadBytes,
  type WorkflowGraph,
  type WorkflowNode,
} from '#libs/workflow-definition';
import { FailedExpression } from '../messages/run-expressions.js';
import { isRemoteNode, type NodeInstance } from '../state/node-instance.js';
import { AUTH_REQUIRED } from '../state/run-steps.js';

/** Error for a result of a node that violates its output rules. Its message may be shown to callers. */
export class InvalidOutput extends Error {
  override readonly name = 'InvalidOutput';
}

/** Validates the result of a node against its definition: `output`, or `config.schema` of an `output` node. */
export class OutputRules {
  private static readonly known = new WeakMap<WorkflowNode, OutputRules>();
  private readonly schema: InputSchema | undefined;

  private constructor(private readonly node: WorkflowNode) {
    this.schema = InputSchema.ifValid(
      node.output?.schema ?? (node.type === 'output' ? node.config['schema'] : undefined),
    );
  }

  /** Returns the rules of a node. They are read once for each definition. */
  static forNode(node: WorkflowNode): OutputRules {
    const rules = OutputRules.known.get(node) ?? new OutputRules(node);
    OutputRules.known.set(node, rules);
    return rules;
  }

  /**
   * Validates a result and returns the Artifacts to store. With `output.parse`, the JSON in the text is added as data.
   * @param mostMembers maximum number of members and elements of that JSON
   * @throws InvalidOutput if the result violates the rules
   */
  applyRules(artifacts: Artifact[], mostMembers: number): Artifact[] {
    const kept = this.node.output?.parse === true ? this.withData(artifacts, mostMembers) : artifacts;
    const [fault] = this.schema?.faults(resultValue(kept[0])) ?? [];
    if (fault) throw new InvalidOutput(`the output${fault.path} ${fault.detail}`);
    return kept;
  }

  private withData(artifacts: Artifact[], mostMembers: number): Artifact[] {
    const [first, ...others] = artifacts;
    if (first !== undefined && firstData(first.parts) !== undefined) return artifacts;
    const text = first && joinedText(first.parts);
    if (first === undefined || text === undefined) throw new InvalidOutput('the output has no text to read JSON from');
    const { schema } = this;
    const data = jsonInText(text, {
      read: (json) => parseOutput(json, mostMembers),
      ...(schema && { fits: (value) => schema.faults(value).length === 0 }),
    });
    if (data === undefined) throw new InvalidOutput('the output has no JSON in its text');
    return [{ ...first, parts: [...first.parts, dataPart(data)] }, ...others];
  }
}

/** Returns the value to validate against the schema: the data of the result, else its text, else null. */
function resultValue(artifact: Artifact | undefined): JsonValue {
  if (artifact === undefined) return null;
  return firstData(artifact.parts) ?? joinedText(artifact.parts) ?? null;
}

/** Parses JSON; `undefined` for a text that is not valid JSON. @throws InvalidOutput if it has too many members */
function parseOutput(text: string, mostMembers: number): JsonValue | undefined {
  if (hasMoreMembers(text, mostMembers)) throw new InvalidOutput(`the output's JSON ${tooManyMembers(mostMembers)}`);
  return tryParseFitJson(text);
}

/** End of one attempt of a node, or its wait for an answer, derived from the outcome of the call (`CallOutcome`). */
export type ChildEnding =
  | { kind: 'completed'; status: string; artifacts: Artifact[] }
  // With `refused`, the agent rejected an answer and still waits.
  | { kind: 'waiting'; status: string; question: Part[]; asks?: FormQuestion; refused?: FieldViolation[] }
  // The Task had already resumed when the answer to its question arrived.
  | { kind: 'moved-on'; status?: undefined }
  | FailedEnding;

interface FailedEnding {
  kind: 'failed';
  /** State of the agent's Task as a word (see `formatState`); absent if the agent gave no answer. */
  status?: string;
  error: string;
  failure: FailureKind;
  /** Set if the agent's Task may still be working or waiting, so that the run must cancel that Task. */
  isLeft?: true;
  /** Pause before the next call that the agent asks for, in milliseconds; absent if it asks for none. */
  retryAfter?: number;
}

/** Update of a call to a node's agent: a step, or the ending. */
export interface ChildUpdate {
  node: NodeInstance;
  /** Number of the node's attempt that made the call. */
  attempt: number;
  url: string;
  taskId: string | undefined;
  contextId: string | undefined;
  /** Step that the agent reported, if any. */
  step?: RunEventNote;
  ending?: ChildEnding;
}

/** Formats the state of a Task as a word, for example `completed` or `input-required`. */
function formatState(state: TaskState): string {
  return state.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-');
}

/**
 * Converts the outcome of a call to the ending of the node's attempt.
 * - Only a COMPLETED Task or a direct Message is a success.
 * - A waiting Task makes the node wait.
 * - Any other end fails the attempt.
 *
 * `judgeCallEnding` calls this function, and handles late answers, rejected answers and the output rules.
 */
export function readChildEnding(node: WorkflowNode, url: string, outcome: CallOutcome): ChildEnding {
  const { answer } = outcome;
  if (outcome.kind === 'completed') {
    const artifacts = node.type === 'agent' ? readWholeAnswer(answer) : readAnswerArtifacts(answer, node.type);
    const merged = artifacts.map((artifact) => ({ ...artifact, parts: mergedTexts(artifact.parts) }));
    return { kind: 'completed', status: 'completed', artifacts: putOutputFirst(node, merged) };
  }
  const status = answer.state && formatState(answer.state);
  if (outcome.kind === 'waiting') {
    const message = answer.status?.message;
    const asks = formQuestion(message);
    return { kind: 'waiting', status: status ?? '', question: message?.parts ?? [], ...(asks && { asks }) };
  }
  const { failure } = outcome;
  const { state } = failure;
  const { kind, retryAfter } = readFailureReason(node, failure, answer);
  return {
    kind: 'failed',
    ...(state !== undefined && { status: formatState(state) }),
    error:
      state === undefined
        ? formatCallError(node, url, failure)
        : formatEndError(node, url, state, statusTextOf(answer)),
    failure: kind,
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/**
 * Returns the kind of failure of a call, and the pause that the agent asks for. If a local agent names a kind, that
 * kind is used; a remote agent is not trusted to name one.
 */
function readFailureReason(
  { type }: WorkflowNode,
  { kind, rateLimited, retryAfter }: CallFailure,
  { status }: CalledTask,
): { kind: FailureKind; retryAfter?: number | undefined } {
  const said = kind === 'failed' && type !== 'external' ? failureNote(status?.message?.metadata) : undefined;
  if (said && isFailureKind(said.kind)) return { ...said, kind: said.kind };
  return { kind: rateLimited ? 'rate-limited' : kind, retryAfter };
}

/** Formats the error of a failed call. For an unreachable `external` agent, the node's `description` is appended. */
function formatCallError(node: WorkflowNode, url: string, { kind, message }: CallFailure): string {
  if (node.type !== 'external') return message;
  const { description } = node.config;
  const about = kind === 'connect' && typeof description === 'string' ? ` (${briefText(description, 300)})` : '';
  return `external agent call to ${registeredAgentPath(node.config) ?? redactedUrl(url)}: ${message}${about}`;
}

function formatEndError(node: WorkflowNode, url: string, state: TaskState, said: string): string {
  const word = formatState(state);
  if (node.type === 'external')
    return `external agent ${registeredAgentPath(node.config) ?? redactedUrl(url)} ${word}${said ? `: ${said}` : ''}`;
  const cause = said.replace(/^Error: /, '');
  if (word === 'failed') return cause || 'the node failed';
  return `the node was ${word}${cause ? `: ${cause}` : ''}`;
}

/**
 * Returns the Artifacts of an answer. A single Artifact may consist of streamed pieces of a text: if the last status
 * has a Message, the Artifact gets the Parts of that Message instead.
 */
function readWholeAnswer(answer: CalledTask): Artifact[] {
  const artifacts = readAnswerArtifacts(answer, 'agent');
  const said = answer.status?.message?.parts ?? [];
  return artifacts.length === 1 && said.length > 0 ? artifacts.map((it) => ({ ...it, parts: said })) : artifacts;
}

/**
 * Node types whose Artifacts have names that their agents chose, so that the first Artifact is the output. Other types
 * name their output by the node's id.
 */
const NAMED_BY_OTHERS = new Set(['external', 'script', 'workflow']);

/**
 * Moves the Artifact with the node's id to the front: it is the output, even if the agent created other Artifacts
 * before.
 */
function putOutputFirst({ id, type }: WorkflowNode, artifacts: Artifact[]): Artifact[] {
  const own = NAMED_BY_OTHERS.has(type) ? undefined : artifacts.find(({ artifactId }) => artifactId === id);
  return own === undefined ? artifacts : [own, ...artifacts.filter((it) => it !== own)];
}

/**
 * Returns the Artifacts of an agent's answer: a direct reply as an Artifact, else the Artifacts that are not empty. If
 * there are none, a Message becomes an Artifact: the last status Message of a local agent, or the last Message of any
 * kind of a remote agent.
 * @param type node type
 */
function readAnswerArtifacts(answer: CalledTask, type: string): Artifact[] {
  const { reply } = answer;
  if (reply) return [asArtifact(reply)];
  const artifacts = answer.artifacts.filter(({ parts }) => parts.length > 0);
  const said = type === 'external' ? answer.lastMessage : answer.status?.message;
  if (artifacts.length > 0 || !said || said.parts.length === 0) return artifacts;
  return [asArtifact(said)];
}

/** Converts a Message of an agent to an Artifact, with its metadata and extensions. */
function asArtifact({ messageId, parts, metadata, extensions }: Message): Artifact {
  return { artifactId: messageId, parts, ...(metadata && { metadata }), ...(extensions && { extensions }) };
}

/**
 * Codes of A2A errors that show that an agent rejected a Message because of its content. The Task does not change then.
 */
const ERRORS: ReadonlySet<number> = new Set([
  A2A_ERRORS.CONTENT_TYPE_NOT_SUPPORTED.code,
  A2A_ERRORS.INVALID_PARAMS.code,
  A2A_ERRORS.INVALID_REQUEST.code,
]);
/**
 * HTTP status codes that show that an agent rejected a Message because of its content: malformed, too large, wrong
 * media type, or not processable.
 */
const STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Returns the ending of a call whose answer the agent rejected: the node still waits, with the violations of that
 * answer. `undefined` if the call carried no answer, or failed for another reason.
 */
function askedOnAfter({ cause, message }: CallFailure, { answered, asks }: NodeInstance): ChildEnding | undefined {
  const isRefused = cause instanceof AgentCallError && isRefusal(cause);
  if (answered === undefined || !isRefused) return undefined;
  return {
    kind: 'waiting',
    status: answered.wantsAuth ? AUTH_REQUIRED : 'input-required',
    question: answered.question,
    ...(asks && { asks }),
    refused: violationsOf(cause) ?? [{ field: 'answer', description: message }],
  };
}

function isRefusal({ kind, code, status }: AgentCallError): boolean {
  if (kind === 'client-error') return status !== undefined && STATUSES.has(status);
  return code !== undefined && ERRORS.has(code);
}

/** Returns the violations that an agent of this process reports; `undefined` for any other agent. */
function violationsOf({ cause }: AgentCallError): FieldViolation[] | undefined {
  return cause instanceof A2AError && cause.violations.length > 0 ? [...cause.violations] : undefined;
}

const filesLogger = new Logger('RunFiles');

/** Members of a run that are needed to record the ending of a node in the run's log. */
interface RecordingRun {
  context: RequestContext;
  graph: WorkflowGraph;
}

/**
 * Calls `report` with the ending of a call. Before that, replaces each file in the ending by the form that the run
 * reads from its log after a crash: a reference to a stored file, or the bytes if expressions may read them. A run thus
 * continues with the same content with and without a crash. The bytes count in memory limits until `report` resolves.
 */
export async function reportRecordable(
  ending: ChildEnding,
  run: RecordingRun,
  report: (ending: ChildEnding) => Promise<void>,
): Promise<void> {
  using restorer = mayReadBytes(run.graph.definition) ? run.context.partRestorer?.() : undefined;
  await report(await recordableEnding(ending, run, restorer));
}

async function recordableEnding(
  ending: ChildEnding,
  { context, graph }: RecordingRun,
  restorer: PartRestorer | undefined,
): Promise<ChildEnding> {
  if (ending.kind !== 'completed') return ending;
  const { status } = ending;
  const restoreOrKeep = async (parts: readonly Part[]): Promise<Part[] | undefined> =>
    mayReadBytes(graph.definition) ? restorer?.restoreParts(parts) : context.keepParts?.(parts);
  const artifacts: Artifact[] = [];
  try {
    for (const artifact of ending.artifacts) {
      const parts = artifact.parts.some(isFilePart) ? await restoreOrKeep(artifact.parts) : undefined;
      artifacts.push(parts ? { ...artifact, parts } : artifact);
    }
  } catch (error) {
    context.signal.throwIfAborted();
    filesLogger.error({ err: error, runId: context.taskId }, 'A file in the answer of a node cannot be read');
    return { kind: 'failed', status, error: 'a file of the answer cannot be read', failure: 'failed' };
  }
  return { ...ending, artifacts };
}

const callsLogger = new Logger('RunCalls');

/** The state and limits of a run that `judgeCallEnding` needs. */
interface JudgingRun {
  graph: WorkflowGraph;
  /** Maximum number of members and elements in the JSON of a result. */
  jsonMembers: number;
}

/**
 * Returns how an attempt of a node ended: as `readChildEnding` returns it, except that a late answer ends as
 * `moved-on`, a rejected answer leaves the node waiting, and a result that violates the output rules fails the attempt.
 */
export function judgeCallEnding(node: NodeInstance, url: string, outcome: CallOutcome, run: JudgingRun): ChildEnding {
  const definition = run.graph.node(node.id);
  if (outcome.kind === 'failed') {
    if (isAnswerTooLate(node, outcome.failure, run.graph)) return { kind: 'moved-on' };
    const ending = askedOnAfter(outcome.failure, node) ?? describeInternalFailure(node, url, outcome.failure);
    if (ending) return ending;
  }
  const ending = readChildEnding(definition, url, outcome);
  if (ending.kind === 'completed') return validateResult(definition, ending, run);
  const isLeft = ending.kind === 'failed' && isRemoteNode(definition) && isLeftWaiting(outcome);
  return isLeft ? { ...ending, isLeft } : ending;
}

/**
 * Returns the ending of a call whose Message could not be built because an expression in it failed; `undefined` for any
 * other failure. Any other failure of the kind `internal` is logged.
 */
function describeInternalFailure(
  node: NodeInstance,
  url: string,
  { kind, cause }: CallFailure,
): ChildEnding | undefined {
  if (kind !== 'internal') return undefined;
  if (cause instanceof FailedExpression) return { kind: 'failed', error: cause.message, failure: 'expression' };
  callsLogger.error({ err: cause, node: node.instance, url: redactedUrl(url) }, 'The call of a node failed');
  return undefined;
}

/**
 * True if a local agent no longer accepts the answer to its question. False in a plain definition
 * (`WorkflowGraph.isPlain`), where the late answer fails the node.
 */
function isAnswerTooLate({ id, answer }: NodeInstance, { cause }: CallFailure, graph: WorkflowGraph): boolean {
  if (answer === undefined || isRemoteNode(graph.node(id)) || graph.isPlain) return false;
  return cause instanceof AgentCallError && cause.code === A2A_ERRORS.UNSUPPORTED_OPERATION.code;
}

/** Applies the output rules of the definition. A result that violates them fails the attempt with `invalid-output`. */
function validateResult(
  definition: WorkflowNode,
  ending: Extract<ChildEnding, { kind: 'completed' }>,
  { jsonMembers }: JudgingRun,
): ChildEnding {
  try {
    return { ...ending, artifacts: OutputRules.forNode(definition).applyRules(ending.artifacts, jsonMembers) };
  } catch (error) {
    if (!(error instanceof InvalidOutput)) throw error;
    return { kind: 'failed', status: ending.status, error: error.message, failure: 'invalid-output' };
  }
}
