// The official SDK's Express server with its PostgreSQL store; the tables are made by the SDK's own `a2a-db upgrade`.
import { DatabaseTaskStore } from '@a2a-js/sdk/server/database';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { serveSdkAgent } from './sdk-agent.ts';

const POOL_SIZE = 20;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
await serveSdkAgent(new DatabaseTaskStore(new Kysely({ dialect: new PostgresDialect({ pool }) })));
