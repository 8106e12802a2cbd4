// The floor under noticing a death: a process whose session holds an advisory lock until the process is killed.
import { createServer } from 'node:http';
import pg from 'pg';
import { announce } from './serve.ts';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
await client.query('SELECT pg_advisory_lock($1)', [process.env.LOCK_KEY]);
announce(createServer().listen(0, '127.0.0.1'));
