export const PARLEY = 'Parley, PostgreSQL';
export const PARLEY_KEYS = 'Parley, PostgreSQL, AUTH_MODE=api-key';
export const PARLEY_TRACED = 'Parley, PostgreSQL, spans of one trace in ten';
export const SDK_MEMORY = 'official SDK, memory';
export const SDK_POSTGRES = 'official SDK, PostgreSQL';
export const NEST_FLOOR = 'floor: Nest + Fastify echo';
export const NODE_FLOOR = 'floor: node:http echo';
export const PARLEY_CLIENT = "Parley's client, found by URL for each call";
