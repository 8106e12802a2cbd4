import { createInterface } from 'node:readline';
import { AgentCallError, type AgentClient, HttpAgentDirectory } from '#libs/a2a-client';
import { redactedUrl } from '#libs/protocol';
import type { CardReport } from './card-report.js';
import { type ChatAnswer, isFailedAnswer } from './chat-answer.js';
import { ChatSession, ShownAnswer } from './chat-session.js';
import { stateWord } from './event-line.js';
import { CommandError, EXIT } from './exit-code.js';
import { answerPart, type Form, formFields, type GivenAnswer, typedAnswer } from './form-answer.js';
import { Interrupted, type Session } from './session.js';

/**
 * Creates the AgentDirectory that resolves cards and creates clients. Its clients may also call private addresses,
 * because the user named the agent.
 */
function createDirectory(session: Session): HttpAgentDirectory {
  return new HttpAgentDirectory({
    http: { fetch, cachedFetch: fetch },
    credentials: (url) => () => keyFor(session, url),
    onCardless: () => undefined,
  });
}

/**
 * Returns the Authorization header with the key of the service (PARLEY_API_KEY); no header for an agent at any other
 * origin.
 * @throws CommandError if the key or the service's URL is invalid
 */
function keyFor(session: Session, agentUrl: string): Record<string, string> {
  const isOwn = new URL(agentUrl).origin === new URL(session.url).origin;
  const key = isOwn ? session.apiKey : undefined;
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

async function connectAgent(session: Session, url: string): Promise<AgentClient> {
  requireUrl(url);
  // Check the key first: later, an invalid key would be reported as the agent's fault in the middle of a call.
  keyFor(session, url);
  const found = createDirectory(session).resolveClient(url, { timeouts: { refused: 0 }, signal: session.signal });
  return found.catch((error: unknown) => {
    session.signal.throwIfAborted();
    throw new CommandError(`${redactedUrl(url)} cannot be called: ${callFailureText(error)}`, EXIT.failed);
  });
}

/** Asserts that an agent's URL can be called. @throws CommandError for a URL that is not http or https */
function requireUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandError(`${redactedUrl(url)}: must be an http or https URL, of an agent or of its card`);
}

export interface MessageOptions extends Omit<GivenAnswer, 'text'> {
  context?: string;
  task?: string;
}

/**
 * Sends one text or data value to an agent, and shows the answer.
 * @throws CommandError if the call fails, or unless exactly one of `text`, `input` and `data` is given
 */
export async function sendToAgent(
  session: Session,
  url: string,
  text: string | undefined,
  { context, task, input, data }: MessageOptions,
): Promise<void> {
  const given: GivenAnswer = { text, input, data };
  // A malformed command fails before the agent is called.
  answerPart(undefined, given);
  const talk = new ChatSession(await connectAgent(session, url));
  if (context !== undefined) talk.ids = { contextId: context };
  if (task !== undefined) await talk.resumeTask(task, session.signal);
  const { terminal } = session;
  // The result is shown complete at the end, so its pieces are ignored.
  const listener = { working: (said: string) => terminal.writeNote(`… ${said}`), piece: () => undefined };
  const answer = await talk.sendAnswer(given, session.signal, listener).catch((error: unknown) => {
    session.signal.throwIfAborted();
    throw error instanceof CommandError ? error : new CommandError(callFailureText(error), EXIT.failed);
  });
  const { state, taskId } = answer;
  if (state !== undefined && state !== 'TASK_STATE_COMPLETED' && state !== 'TASK_STATE_INPUT_REQUIRED')
    session.code = EXIT.failed;
  writeAnswer(session, answer);
  showForm(session, answer);
  if (state === 'TASK_STATE_INPUT_REQUIRED')
    terminal.writeNote(`The Task waits for an answer: send it with --task ${taskId}`);
}

/**
 * Writes the answer to standard output. The reason of a failure, and a status text that is not part of the answer
 * (`message`), go to standard error.
 */
function writeAnswer({ terminal }: Session, answer: ChatAnswer): void {
  const { text, message, state } = answer;
  const isFailed = isFailedAnswer(answer);
  const reason = message === undefined ? '' : `: ${message}`;
  if (terminal.json || !isFailed || (text !== '' && text !== message))
    terminal.writeResult(answer, () => terminal.stripControls(text));
  if (isFailed) terminal.writeNote(`Task ${stateWord(state ?? '')}${reason}`);
  else if (message !== undefined) terminal.writeNote(`… ${message}`);
}

/** Shows the fields of the form that the agent asks for, and the violations of the previous answer. */
function showForm({ terminal }: Session, { asks }: ChatAnswer): void {
  const wrong = asks?.violations?.map(({ field, description }) => `    ${field} ${description}`) ?? [];
  const lines = [...wrong, ...formFields(asks?.form as Form | undefined)];
  if (lines.length > 0) terminal.writeNote(terminal.stripControls(lines.join('\n')));
}

/** Talks with an agent line by line, until the input ends. */
export async function chatWithAgent(session: Session, url: string): Promise<void> {
  const { terminal, signal } = session;
  const agent = await connectAgent(session, url);
  const talk = new ChatSession(agent);
  const { input, json } = terminal;
  const lines = createInterface({ input, ...(!json && { output: process.stdout }), prompt: json ? '' : 'you> ' });
  const name = terminal.stripControls(agent.card?.name ?? agent.agentUrl);
  if (!json) terminal.writeLine(`Talking with ${name}. /new starts a new conversation, /quit ends.`);
  const closeLines = (): void => lines.close();
  signal.addEventListener('abort', closeLines, { once: true });
  // On a terminal Ctrl-C is a key press and no signal.
  lines.on('SIGINT', () => session.interruptCommand());
  lines.prompt();
  let over = false;
  lines.on('close', () => (over = true));
  for await (const line of lines) {
    if (signal.aborted) break;
    const text = line.trim();
    if (text === '/quit') break;
    if (text === '/new') talk.forgetIds();
    else if (text !== '') await exchangeText(session, talk, text);
    // Lines that were typed ahead are answered after the input has ended.
    if (!over) lines.prompt();
  }
  lines.close();
  if (signal.reason instanceof Interrupted) terminal.writeNote('');
  signal.throwIfAborted();
}

async function exchangeText(session: Session, talk: ChatSession, text: string): Promise<void> {
  const { terminal, signal } = session;
  const shown = new ShownAnswer(terminal);
  try {
    const answer = await talk.sendAnswer(typedAnswer(text), signal, shown);
    const word = answer.state === undefined ? undefined : stateWord(answer.state);
    shown.finishAnswer(answer, word === undefined || word === 'input-required' ? '' : ` [${word}]`);
    showForm(session, answer);
  } catch (error) {
    shown.close();
    signal.throwIfAborted();
    terminal.writeEntry(
      { error: { message: callFailureText(error) } },
      () => `error> ${terminal.stripControls(callFailureText(error))}`,
    );
  }
}

/** Shows the card of an agent and the card's problems. */
export async function showCard(session: Session, url: string): Promise<void> {
  requireUrl(url);
  // The module loads a service's rules for cards, which other commands do not need.
  const { cardReport } = await import('./card-report.js');
  const report = await cardReport(url, keyFor(session, url));
  const wrong = report.problems.some(({ level }) => level === 'error');
  if (wrong) session.code = EXIT.differs;
  session.terminal.writeResult(report, () => session.terminal.stripControls(cardText(report, wrong)));
}

function cardText({ card: shown, cardUrl, problems }: CardReport, wrong: boolean): string {
  return [
    JSON.stringify(shown, null, 2),
    `The card at ${cardUrl} ${wrong ? 'does not follow A2A:' : 'has all members that A2A requires.'}`,
    ...problems.map(({ level, path, detail }) => `  ${level}: ${path} ${detail}`),
  ].join('\n');
}

function callFailureText(error: unknown): string {
  return error instanceof AgentCallError || error instanceof CommandError ? error.message : 'the call failed';
}
