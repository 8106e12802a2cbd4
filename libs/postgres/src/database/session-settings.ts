import pg from 'pg';

/** Date style that pg parses. Most servers use it by default, so a pooler has nothing to set. */
const DATE_STYLE = 'ISO, MDY';

/**
 * Derives a client class whose sessions write times in the style that pg parses, whatever the role or the database
 * sets. The setting is a startup parameter: poolers track it for each client.
 */
export function withIsoTimes(Client: typeof pg.Client): typeof pg.Client {
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

/** Server limits on idle sessions and on transactions. They are lifted, since all code here sets its own limits. */
const LIMITS = ['idle_session_timeout', 'transaction_timeout'];

/**
 * Settings against vanished hosts, which send no FIN: the server drops an unanswered session, and its locks, after
 * about ten seconds. Sessions over a local socket ignore them.
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
