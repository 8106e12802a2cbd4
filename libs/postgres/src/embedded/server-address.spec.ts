import pg from 'pg';
import { clientOf, ScramClient } from '../database/connection-options.js';
import { databaseUrl } from './server-address.js';

describe('databaseUrl', () => {
  it.each(['/var/lib/parley/socket', '/tmp/a folder, "quoted" & 100%/socket', '127.0.0.1'])(
    'is read by pg as it was meant: %s',
    (host) => {
      const url = databaseUrl({ host, port: 15_432 }, 'parley', 'a-b_c', 'things');
      const { user, password, port, database, ...client } = new pg.Client({ connectionString: url });
      expect({ user, password, host: client.host, port, database }).toEqual({
        user: 'parley',
        password: 'a-b_c',
        host,
        port: 15_432,
        database: 'things',
      });
      expect(clientOf(url).prototype).toBeInstanceOf(ScramClient);
      expect(new URL(url).pathname).toBe('/things');
    },
  );
});
