import { ConfigError, type Environment } from '#libs/service';
import { agentNode } from './agent-node.js';
import { parseArguments, USAGE, UsageError } from './arguments.js';
import { serveFile } from './serve-file.js';
import { commandLineAgent } from './served-agent.js';
import { startAgent } from './start-agent.js';

/**
 * Starts the agent and says so in one line on standard output. What is wrong with the command line or the environment
 * ends the process with a line per problem on standard error, and exit code 1.
 */
export async function start(argv: readonly string[], environment: Environment): Promise<void> {
  try {
    if (argv[0] === 'serve') return ready(await serveFile(argv.slice(1), environment));
    const wanted = parseArguments(argv);
    if (wanted === undefined) {
      process.stdout.write(`${USAGE}\n`);
      return;
    }
    const { name } = wanted;
    const { url } = await startAgent(wanted, environment, commandLineAgent(wanted, await agentNode(wanted)));
    ready({ name, url });
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function ready({ name, url }: { name: string; url: string }): void {
  process.stdout.write(`Agent ${name} is ready on ${url}\n`);
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof ConfigError) return error.lines.join('\n');
  return `The agent could not start: ${error instanceof Error ? error.message : 'unknown error'}`;
}
