import type pg from 'pg';

type Statement = (config: unknown, ...rest: unknown[]) => unknown;

/**
 * A client class that names no statement: behind a pooler of transactions the next one may come to a session where the
 * name is unknown, or another client's. (PgBouncer knows names from 1.21 on, where it is told so.)
 */
export function withoutNames(Client: typeof pg.Client): typeof pg.Client {
  return class UnnamedStatementsClient extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const query = this.query.bind(this) as Statement;
      this.query = ((config: unknown, ...rest: unknown[]) => query(unnamed(config), ...rest)) as typeof this.query;
    }
  };
}

function unnamed(config: unknown): unknown {
  return isNamed(config) ? { ...config, name: undefined } : config;
}

/** What submits itself is left as it is. */
function isNamed(config: unknown): config is pg.QueryConfig {
  return typeof config === 'object' && config !== null && 'name' in config && !('submit' in config);
}
