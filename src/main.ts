import { endWithParent } from '#libs/service';
import { startService } from './bootstrap.js';

const HELP = `Parley: a durable service in front of AI agents (A2A 1.0 and 0.3)

  npm start                 starts it; settings come from the environment
  npm start -- --help       this text

Common settings (all: docs/VARIABLES.md)

  PORT, HOST                address to listen at; default 3000 and 127.0.0.1
  DATABASE_URL              a PostgreSQL 15 or newer; default: an embedded one under DATA_DIR (./.data)
  AUTH_MODE, AUTH_API_KEYS  who may call: none (loopback only), api-key with name:key,..., or jwt
  PUBLIC_URL                address in agent cards
  GRPC_PORT                 switches gRPC on
  LLM_BASE_URL, LLM_API_KEY, LLM_MODEL, LLM_INPUT_MODES
                            an OpenAI-compatible model; without one, agent nodes repeat their input
  LOG_LEVEL                 fatal, error, warn, info, debug, trace or silent; info

When it is ready, /docs describes the management API, and / is the console.
`;

/** Promise that settles once the service is ready, or has failed to start; the loader of the program waits for it. */
export const begun = startProgram();

async function startProgram(): Promise<void> {
  endWithParent();
  const answer = answerTo(process.argv.slice(2));
  if (answer === undefined) return startService(process.env);
  (answer.code === 0 ? process.stdout : process.stderr).write(answer.text);
  process.exitCode = answer.code;
}

/** Returns the text to print in place of a start, and the exit code; `undefined` if the service should start. */
function answerTo(args: readonly string[]): { text: string; code: 0 | 2 } | undefined {
  if (args.some((it) => it === '--help' || it === '-h')) return { text: HELP, code: 0 };
  const [unknown] = args;
  if (unknown === undefined) return undefined;
  return { text: `Parley takes no argument "${unknown}"; --help says how it is set up\n`, code: 2 };
}
