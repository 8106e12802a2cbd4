import pg from 'pg';
import { ConfigError, requiredAuth } from '#libs/service';
import { SESSIONS_OF_PROCESS, watchedClient } from './watched-client.js';

/**
 * Events of pg's connection, mostly messages of the server, that are accepted before the server has proved that it
 * knows the password. All other events end the connection.
 */
const BEFORE_PROOF: ReadonlySet<string | symbol> = new Set([
  'newListener',
  'removeListener',
  'connect',
  'sslconnect',
  'message',
  'authenticationSASL',
  'authenticationSASLContinue',
  'authenticationSASLFinal',
  'errorMessage',
  'notice',
  'error',
  'end',
]);

/**
 * Authentication requests, which pg answers at any time. After the server's proof they are refused: an attacker who
 * relayed the proof may have sent them.
 */
const QUESTIONS: ReadonlySet<string | symbol> = new Set([
  'authenticationCleartextPassword',
  'authenticationMD5Password',
  'authenticationSASL',
  'authenticationSASLContinue',
  'authenticationSASLFinal',
]);

/** Connection of pg that emits the server's messages. */
interface ServerConnection {
  emit: (event: string | symbol, ...values: unknown[]) => boolean;
  stream: { destroy(): unknown };
}

/**
 * Session that authenticates with SCRAM-SHA-256 or not at all. By default pg answers any method that the server
 * requests: an impostor could request the password in clear text, or skip authentication. With SCRAM both sides prove
 * that they know the password. A server that requests another method, or cannot prove itself, receives nothing, and
 * `connect` rejects.
 */
export class ScramClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    demandProof(this.connection as unknown as ServerConnection);
  }
}

/**
 * Ends the connection with an error if the server skips its SCRAM proof, or requests authentication again after it. An
 * attacker in between could relay the real server's proof and then request the password. The check ends when the
 * session has begun.
 */
function demandProof(connection: ServerConnection): void {
  const { emit } = connection;
  const emitOriginal = (event: string | symbol, ...values: unknown[]): boolean =>
    emit.call(connection, event, ...values);
  let [over, proved] = [false, false];
  const mayBeSaid = (event: string | symbol): boolean => (proved ? !QUESTIONS.has(event) : BEFORE_PROOF.has(event));
  connection.emit = (event, ...values) => {
    if (over && event !== 'end') return false;
    if (event === 'error' || !mayBeSaid(event)) {
      over = true;
      connection.stream.destroy();
      return emitOriginal('error', event === 'error' ? values[0] : new Error(UNPROVEN));
    }
    if (proved && event === 'readyForQuery') connection.emit = emit;
    const received = emitOriginal(event, ...values);
    // A wrong proof has been reported as an `error` by now.
    if (event === 'authenticationSASLFinal' && !over) proved = true;
    return received;
  };
}

const UNPROVEN = 'The server at the database address does not prove with SCRAM-SHA-256 that it knows the password';

/** Value of `DateStyle` that pg can parse. It is the default of most servers, so a pooler rarely has to set it. */
const DATE_STYLE = 'ISO, MDY';

/**
 * Derives a client class whose sessions write times in the style that pg parses, whatever the role or the database
 * sets. The setting is a startup parameter: poolers track it for each client.
 */
function withIsoTimes(Client: typeof pg.Client): typeof pg.Client {
  return class IsoTimesClient extends (Client as typeof StartingClient) {
    override getStartupConf(): Record<string, string> {
      return { ...super.getStartupConf(), DateStyle: DATE_STYLE };
    }
  };
}

/** Hook of pg that returns the startup parameters of a session. */
declare class StartingClient extends pg.Client {
  getStartupConf(): Record<string, string>;
}

/**
 * Server limits on idle sessions and on transactions. They are lifted, since the code of this service sets limits
 * itself.
 */
const LIMITS = ['idle_session_timeout', 'transaction_timeout'];

/**
 * Settings against vanished hosts of clients, which send no FIN: the server drops an unanswered session, and its locks,
 * after about ten seconds. Sessions over a local socket ignore these settings.
 */
const VANISHED_CLIENTS = [
  'tcp_keepalives_idle = 4',
  'tcp_keepalives_interval = 2',
  'tcp_keepalives_count = 3',
  'tcp_user_timeout = 10000',
].map((setting) => `SET ${setting}`);

/**
 * Settings of direct sessions. They override limits of a role or a database on idle sessions, such as LISTEN, and on
 * long transactions, such as a batch of the journal. They also fix the isolation level.
 */
export const SESSION_SETTINGS = [
  ...LIMITS.map(liftLimit),
  `SET default_transaction_isolation = 'read committed'`,
  ...VANISHED_CLIENTS,
].join('; ');

/** Returns the statement that lifts a limit; it has no effect on a server that does not know the limit. */
export function liftLimit(limit: string): string {
  return `SELECT set_config('${limit}', '0', false) WHERE current_setting('${limit}', true) IS NOT NULL`;
}

export const CONNECT_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_DELAY_MS = 5_000;

/** Returns the connection options of all sessions of this process. */
export function connectionOptions(url: string): pg.PoolConfig {
  return {
    connectionString: url,
    application_name: SESSIONS_OF_PROCESS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    Client: clientOf(url),
  };
}

/**
 * Returns the client class of all sessions with the database at this URL. The sessions are cut when their connection is
 * lost (see SessionWatch). `require_auth=scram-sha-256` in the URL makes the server prove itself (ScramClient).
 */
export function clientOf(url: string): typeof pg.Client {
  return watchedClient(url, withIsoTimes(requiredAuth(url) === undefined ? pg.Client : ScramClient));
}

type QueryFunction = (config: unknown, ...rest: unknown[]) => unknown;

/**
 * Derives a client class that drops the names of prepared statements. Behind a transaction pooler the next statement
 * may run in a session where the name is unknown, or belongs to another client. (PgBouncer supports names from 1.21 on,
 * if configured.)
 */
export function withoutNames(Client: typeof pg.Client): typeof pg.Client {
  return class UnnamedStatementsClient extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const query = this.query.bind(this) as QueryFunction;
      this.query = ((config: unknown, ...rest: unknown[]) => query(withoutName(config), ...rest)) as typeof this.query;
    }
  };
}

function withoutName(config: unknown): unknown {
  return isNamed(config) ? { ...config, name: undefined } : config;
}

/**
 * True for a query with a name, which makes it a prepared statement. Objects with a `submit` method of their own are
 * not changed.
 */
function isNamed(config: unknown): config is pg.QueryConfig {
  return typeof config === 'object' && config !== null && 'name' in config && !('submit' in config);
}

/** Returns one sentence that states why a database of this encoding is unusable; `undefined` for UTF8. */
export function encodingProblem(encoding: string): string | undefined {
  if (encoding === 'UTF8') return undefined;
  return (
    `DATABASE_URL: the database has the encoding ${encoding}, which cannot keep every text: ` +
    `create one with ENCODING 'UTF8' TEMPLATE template0`
  );
}

/** @throws ConfigError if the encoding of the session's database is not UTF8 */
export async function assertUtf8(session: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await session.query<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`);
  const problem = encodingProblem(rows[0]!.encoding);
  if (problem !== undefined) throw new ConfigError([problem]);
}
