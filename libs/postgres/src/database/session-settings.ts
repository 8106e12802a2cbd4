import pg from 'pg';

/** As pg reads times, and as most servers write them by themselves: then a pooler has nothing to set. */
const DATE_STYLE = 'ISO, MDY';

/**
 * A client class whose sessions write times as pg reads them, whatever the role or the database would have. It is said
 * with the connection: poolers know this setting, and keep it for whoever gets their session.
 */
export function withIsoTimes(Client: typeof pg.Client): typeof pg.Client {
  return class IsoTimesClient extends (Client as typeof StartingClient) {
    override getStartupConf(): Record<string, string> {
      return { ...super.getStartupConf(), DateStyle: DATE_STYLE };
    }
  };
}

/** What pg calls for what it says of a session when it connects. */
declare class StartingClient extends pg.Client {
  getStartupConf(): Record<string, string>;
}

/** For what somebody holds on to a session that does nothing, or to a transaction: nobody here does without a limit of his own. */
const LIMITS = ['idle_session_timeout', 'transaction_timeout'];

/**
 * A host that is gone sends no FIN: the server ends a session that nobody answers in about ten seconds, and what it locks
 * with it. Nothing of that counts for a session over a socket of this machine.
 */
const VANISHED_CLIENTS = [
  'tcp_keepalives_idle = 4',
  'tcp_keepalives_interval = 2',
  'tcp_keepalives_count = 3',
  'tcp_user_timeout = 10000',
].map((setting) => `SET ${setting}`);

/**
 * What direct sessions begin with. A role or a database may end sessions that do nothing for a while, LISTEN among them,
 * and whose transaction takes long, a batch of the journal among them; or have what a statement does not see fail.
 */
export const SESSION_SETTINGS = [
  ...LIMITS.map(lifted),
  `SET default_transaction_isolation = 'read committed'`,
  ...VANISHED_CLIENTS,
].join('; ');

/** Does nothing at a server that does not know the limit yet. */
export function lifted(limit: string): string {
  return `SELECT set_config('${limit}', '0', false) WHERE current_setting('${limit}', true) IS NOT NULL`;
}
