import { ConfigError, type Environment } from '#libs/service';
import { agentNode } from './agent-node.js';
import { parseArguments, USAGE, UsageError } from './arguments.js';
import { serveFile } from './serve-file.js';
import { commandLineAgent } from './served-agent.js';
import { startAgent } from './start-agent.js';

interface Started {
  name: string;
  url: string;
}

/**
 * Starts the agent and says so on standard output, in the first line. What is wrong with the command line or the environment
 * ends the process with a line per problem on standard error: the former with exit code 2, all else with 1.
 */
export async function start(argv: readonly string[], environment: Environment): Promise<void> {
  try {
    const started = argv[0] === 'serve' ? await serveFile(argv.slice(1), environment) : await served(argv, environment);
    process.stdout.write(started ? readyLines(started) : `${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/** Clients look for a card below the base URL, and the last word of one without a slash is a file to many of them. */
function readyLines({ name, url }: Started): string {
  return `Agent ${name} is ready on ${url}\n  base URL  ${url}/a2a/\n  card      ${url}/a2a/.well-known/agent-card.json\n`;
}

/** The agent that flags describe; `undefined` where help is asked for. */
async function served(argv: readonly string[], environment: Environment): Promise<Started | undefined> {
  const wanted = parseArguments(argv);
  if (wanted === undefined) return undefined;
  const { url } = await startAgent(wanted, environment, commandLineAgent(wanted, await agentNode(wanted)));
  return { name: wanted.name, url };
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof ConfigError) return error.lines.join('\n');
  return `The agent could not start: ${error instanceof Error ? error.message : 'unknown error'}`;
}
