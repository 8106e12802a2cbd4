import { type AgentClient, AgentCallError, HttpAgentDirectory } from '#libs/a2a-client';
import { shownUrl } from '#libs/protocol';
import { createInterface } from 'node:readline';
import { cardReport } from './card-report.js';
import { ChatSession } from './chat-session.js';
import { CommandError, EXIT } from './exit-code.js';
import type { Session } from './session.js';

/** The operator named the agent by hand: no address is out of bounds. */
function directory(): HttpAgentDirectory {
  return new HttpAgentDirectory({ http: { fetch, cachedFetch: fetch }, onCardless: () => undefined });
}

async function connected(url: string): Promise<AgentClient> {
  try {
    return await directory().client(url, { timeouts: { refused: 0 } });
  } catch (error) {
    throw new CommandError(`${shownUrl(url)} cannot be called: ${reason(error)}`, EXIT.failed);
  }
}

/** Says one thing to an agent. */
export async function send(
  session: Session,
  url: string,
  text: string,
  { context, task }: { context?: string; task?: string },
): Promise<void> {
  const talk = new ChatSession(await connected(url));
  talk.ids = { ...(context !== undefined && { contextId: context }), ...(task !== undefined && { taskId: task }) };
  try {
    const { text: said, state, taskId, contextId } = await talk.say(text, session.signal);
    if (state !== undefined && state !== 'TASK_STATE_COMPLETED' && state !== 'TASK_STATE_INPUT_REQUIRED')
      session.code = EXIT.failed;
    session.terminal.result({ text: said, state, taskId, contextId }, () => said);
    if (state === 'TASK_STATE_INPUT_REQUIRED') session.terminal.note(`It waits: answer with --task ${taskId}`);
  } catch (error) {
    session.signal.throwIfAborted();
    throw new CommandError(reason(error), EXIT.failed);
  }
}

/** Talks with an agent until the input ends. */
export async function chat({ terminal }: Session, url: string): Promise<void> {
  const agent = await connected(url);
  const talk = new ChatSession(agent);
  const lines = createInterface({ input: terminal.input, output: process.stdout, prompt: 'you> ' });
  terminal.line(`Talking with ${agent.card?.name ?? agent.agentUrl}. /new begins again, /quit ends.`);
  lines.prompt();
  let over = false;
  lines.on('close', () => (over = true));
  for await (const line of lines) {
    const text = line.trim();
    if (text === '/quit') break;
    if (text === '/new') talk.forget();
    else if (text !== '') terminal.line(await exchange(talk, text));
    // What was typed ahead is answered after the input has ended.
    if (!over) lines.prompt();
  }
  lines.close();
}

async function exchange(talk: ChatSession, text: string): Promise<string> {
  try {
    const { text: said, state } = await talk.say(text);
    const word = state?.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-');
    return `agent> ${said}${word === undefined || word === 'input-required' ? '' : ` [${word}]`}`;
  } catch (error) {
    return `error> ${reason(error)}`;
  }
}

/** Shows a card, and what is wrong with it. */
export async function card(session: Session, url: string): Promise<void> {
  const report = await cardReport(url);
  const wrong = report.problems.some(({ level }) => level === 'error');
  if (wrong) session.code = EXIT.differs;
  session.terminal.result(report, () =>
    [
      JSON.stringify(report.card, null, 2),
      wrong ? 'The card is not as A2A asks:' : 'The card has all that A2A asks for.',
      ...report.problems.map(({ level, path, detail }) => `  ${level}: ${path} ${detail}`),
    ].join('\n'),
  );
}

function reason(error: unknown): string {
  return error instanceof AgentCallError ? error.message : 'the call failed';
}
