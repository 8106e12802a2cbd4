import { ConfigError, type Environment } from '#libs/service';
import { agentNode } from './agent-node.js';
import { parseArguments, USAGE, UsageError } from './arguments.js';
import { serveFile } from './serve-file.js';
import { commandLineAgent } from './served-agent.js';
import { startAgent } from './start-agent.js';

interface StartedAgent {
  name: string;
  url: string;
}

/**
 * Starts the agent and reports that in the first line of standard output. Errors in the command line or the environment
 * end the process with a line each on standard error: exit code 2 for the command line, 1 for all others.
 */
export async function startFromArguments(argv: readonly string[], environment: Environment): Promise<void> {
  try {
    const started =
      argv[0] === 'serve' ? await serveFile(argv.slice(1), environment) : await serveFromFlags(argv, environment);
    process.stdout.write(started ? readyLines(started) : `${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`${explainFailure(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/**
 * Returns the lines of a ready agent. Clients look for a card below the base URL. It ends with a slash, since many of
 * them take the last segment of a URL without one for a file.
 */
function readyLines({ name, url }: StartedAgent): string {
  return `Agent ${name} is ready on ${url}\n  base URL  ${url}/a2a/\n  card      ${url}/a2a/.well-known/agent-card.json\n`;
}

/** Serves the agent that flags describe; `undefined` if help is requested. */
async function serveFromFlags(argv: readonly string[], environment: Environment): Promise<StartedAgent | undefined> {
  const wanted = parseArguments(argv);
  if (wanted === undefined) return undefined;
  const { url } = await startAgent(wanted, environment, commandLineAgent(wanted, await agentNode(wanted)));
  return { name: wanted.name, url };
}

function explainFailure(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof ConfigError) return error.lines.join('\n');
  return `The agent could not start: ${error instanceof Error ? error.message : 'unknown error'}`;
}
