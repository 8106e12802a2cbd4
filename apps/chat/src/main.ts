import { createInterface } from 'node:readline';
import { type AgentClient, AgentCallError, HttpAgentDirectory } from '#libs/a2a-client';
import { shownUrl } from '#libs/protocol';
import { ChatSession } from './chat-session.js';

const USAGE = `Talks with an A2A agent, line by line.

  npm run chat -- <the agent's URL>

  /new   begins a new conversation
  /quit  ends, as does the end of the input`;

const [url] = process.argv.slice(2);
if (url === undefined || url.startsWith('-')) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(url === undefined ? 1 : 0);
}
await chat(await connected(url));

/** The operator named the agent by hand: no address is out of bounds. */
async function connected(agentUrl: string): Promise<AgentClient> {
  const directory = new HttpAgentDirectory({ http: { fetch, cachedFetch: fetch }, onCardless: () => undefined });
  try {
    return await directory.client(agentUrl, { timeouts: { refused: 0 } });
  } catch (error) {
    process.stderr.write(`${shownUrl(agentUrl)} cannot be called: ${reason(error)}\n`);
    process.exit(1);
  }
}

async function chat(agent: AgentClient): Promise<void> {
  const session = new ChatSession(agent);
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: 'you> ' });
  write(`Talking with ${agent.card?.name ?? agent.agentUrl}. /new begins again, /quit ends.`);
  lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === '/quit') break;
    if (text === '/new') session.forget();
    else if (text !== '') await exchange(session, text);
    lines.prompt();
  }
  lines.close();
}

async function exchange(session: ChatSession, text: string): Promise<void> {
  try {
    const { text: said, state } = await session.say(text);
    const word = state?.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-');
    write(`agent> ${said}${word === undefined || word === 'input-required' ? '' : ` [${word}]`}`);
  } catch (error) {
    write(`error> ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  return error instanceof AgentCallError ? error.message : 'the call failed';
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
