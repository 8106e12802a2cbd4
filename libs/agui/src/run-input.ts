import { isIdentifier, isJsonObject, type JsonObject, type JsonValue, NO_ID, textStart } from '#libs/protocol';
import { malformedRequest } from '#libs/http-server';

/** Entry of `resume`: the answer to one interrupt, or its refusal. */
export interface ResumeEntry {
  interruptId: string;
  status: 'resolved' | 'cancelled';
  /** Answer; absent if the interrupt is canceled. */
  payload?: JsonValue;
}

/** Message of the conversation that a client sends with each run. */
export interface InputMessage extends JsonObject {
  id: string;
  role: string;
}

/** Request of AG-UI for one run (RunAgentInput), as far as the service reads it. */
export interface RunInput {
  /** Conversation: the A2A context of the run. */
  threadId: string;
  /** Name of the run, chosen by the client. */
  runId: string;
  /** True if the client is older than AG-UI 1.0: it sends no `protocolVersion`. */
  isEarly: boolean;
  /** Complete history of the conversation. */
  messages: InputMessage[];
  /** State of the application; `undefined` if the client sends none. */
  state?: JsonValue;
  /** Descriptions and values that the application shows to its agents. */
  context: { description: string; value: string }[];
  /** Values that the application passes on to the agent. */
  forwardedProps?: JsonValue;
  resume: ResumeEntry[];
}

/** Roles of a message in AG-UI. */
const ROLES = ['developer', 'system', 'assistant', 'user', 'tool', 'activity', 'reasoning'];
/** Maximum number of answers in one request. */
const MOST_ANSWERS = 1_000;
/** Maximum number of faults that one error names. */
const MOST_FAULTS = 20;

/** Fault of a request: the path of a member, and what is wrong with its value. */
interface Fault {
  path: string;
  detail: string;
}

/**
 * Reads the body of a run. Unknown members are ignored, as AG-UI requires; a known member of a wrong type is a fault. A
 * member that is null counts as absent: clients in Python send null for members that they do not set.
 * @throws ProblemError 400 that names each faulty member
 */
export function readRunInput(sent: JsonValue | undefined): RunInput {
  if (!isJsonObject(sent)) throw malformedRequest({ path: '', detail: 'The body must be a RunAgentInput of AG-UI' });
  const body: JsonObject = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
  const faults = new Faults();
  const threadId = faults.readId(body, 'threadId');
  const runId = faults.readId(body, 'runId');
  const messages = faults.readList(body, 'messages', readMessage);
  const context = faults.readList(body, 'context', readContext);
  faults.readList(body, 'tools', checkTool);
  const resume = faults.readList(body, 'resume', readResume);
  if (resume.length > MOST_ANSWERS) faults.addFault('resume', `must have at most ${MOST_ANSWERS} entries`);
  for (const name of ['protocolVersion', 'parentRunId'])
    if (body[name] !== undefined && typeof body[name] !== 'string') faults.addFault(name, 'must be a string');
  faults.throwAny();
  return {
    threadId,
    runId,
    isEarly: body['protocolVersion'] === undefined,
    messages,
    context,
    resume,
    ...(body['state'] !== undefined && { state: body['state'] }),
    ...(body['forwardedProps'] !== undefined && { forwardedProps: body['forwardedProps'] }),
  };
}

/** Reader of one element of a list; adds what is wrong with the element to the faults. */
type ReadElement<T> = (element: JsonObject, path: string, faults: Faults) => T;

/** Faults of one request, collected while it is read. */
class Faults {
  private readonly found: Fault[] = [];

  addFault(path: string, detail: string): void {
    if (this.found.length < MOST_FAULTS) this.found.push({ path, detail });
  }

  throwAny(): void {
    if (this.found.length > 0) throw malformedRequest(...this.found);
  }

  readId(of: JsonObject, name: string, at = ''): string {
    const value = of[name];
    if (typeof value === 'string' && value !== '' && isIdentifier(value)) return value;
    this.addFault(`${at}${name}`, value === undefined ? 'is required' : NO_ID);
    return '';
  }

  readText(of: JsonObject, name: string, at: string): string {
    const value = of[name];
    if (typeof value === 'string') return value;
    this.addFault(`${at}.${name}`, value === undefined ? 'is required' : 'must be a string');
    return '';
  }

  readList<T>(of: JsonObject, name: string, read: ReadElement<T>): T[] {
    const value = of[name];
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      this.addFault(name, 'must be a list');
      return [];
    }
    return value.flatMap((element, index) => {
      const path = `${name}[${index}]`;
      if (isJsonObject(element)) return [read(element, path, this)];
      this.addFault(path, 'must be an object');
      return [];
    });
  }
}

function readMessage(message: JsonObject, path: string, faults: Faults): InputMessage {
  const id = faults.readText(message, 'id', path);
  const role = faults.readText(message, 'role', path);
  if (role !== '' && !ROLES.includes(role)) faults.addFault(`${path}.role`, `must be one of ${ROLES.join(', ')}`);
  const { content } = message;
  if (role === 'user' && typeof content !== 'string' && !Array.isArray(content))
    faults.addFault(`${path}.content`, content === undefined ? 'is required' : 'must be a string or a list of parts');
  if (role === 'user' && Array.isArray(content)) checkParts(content, path, faults);
  return { ...message, id, role };
}

function checkParts(content: readonly JsonValue[], path: string, faults: Faults): void {
  for (const [index, part] of content.entries()) {
    const at = `${path}.content[${index}]`;
    if (!isJsonObject(part)) faults.addFault(at, 'must be an object');
    else if (typeof part['type'] !== 'string') faults.addFault(`${at}.type`, 'must be a string');
    else if (part['type'] === 'text' && typeof part['text'] !== 'string')
      faults.addFault(`${at}.text`, 'must be a string');
  }
}

function readContext(entry: JsonObject, path: string, faults: Faults): RunInput['context'][number] {
  return { description: faults.readText(entry, 'description', path), value: faults.readText(entry, 'value', path) };
}

function checkTool(tool: JsonObject, path: string, faults: Faults): void {
  faults.readText(tool, 'name', path);
  faults.readText(tool, 'description', path);
}

function readResume(entry: JsonObject, path: string, faults: Faults): ResumeEntry {
  const interruptId = faults.readText(entry, 'interruptId', path);
  const { status, payload } = entry;
  if (status !== 'resolved' && status !== 'cancelled')
    faults.addFault(`${path}.status`, `must be "resolved" or "cancelled"${describeWrong(status)}`);
  const isResolved = status === 'resolved';
  if (isResolved && payload === undefined) faults.addFault(`${path}.payload`, 'is required for a resolved interrupt');
  return { interruptId, status: isResolved ? status : 'cancelled', ...(isResolved && { payload: payload ?? null }) };
}

function describeWrong(value: JsonValue | undefined): string {
  return typeof value === 'string' ? `, and is "${textStart(value, 32)}"` : '';
}
