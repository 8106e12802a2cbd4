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
 * Starts the agent and says so in one line on standard output. What is wrong with the command line or the environment
 * ends the process with a line per problem on standard error, and exit code 1.
 */
export async function start(argv: readonly string[], environment: Environment): Promise<void> {
  try {
    const started = argv[0] === 'serve' ? await serveFile(argv.slice(1), environment) : await served(argv, environment);
    process.stdout.write(started ? `Agent ${started.name} is ready on ${started.url}\n` : `${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
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
