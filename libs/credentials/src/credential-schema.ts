import type { ApiBodyOptions } from '@nestjs/swagger';

const TEXT = { type: 'string' } as const;
const SECRET = { type: 'string', writeOnly: true } as const;
const SHARED = {
  name: { type: 'string', pattern: '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$' },
  hosts: {
    type: 'array',
    items: TEXT,
    description:
      'The only places that it is sent to: `api.example.com` (https), `api.example.com:8443`, or an origin such as ' +
      '`http://localhost:9000`. Left out: the origin of the URL by which a workflow names the agent.',
  },
};

/** A credential as callers send it, one form for each kind. */
export const CREDENTIAL_BODY: ApiBodyOptions = {
  schema: {
    oneOf: [
      {
        type: 'object',
        required: ['name', 'kind', 'value'],
        properties: {
          ...SHARED,
          kind: { type: 'string', enum: ['api-key'] },
          in: { type: 'string', enum: ['header', 'query', 'cookie'], default: 'header' },
          parameter: { ...TEXT, default: 'X-API-Key', description: "Where the agent's card names no other." },
          value: SECRET,
        },
      },
      {
        type: 'object',
        required: ['name', 'kind', 'token'],
        properties: { ...SHARED, kind: { type: 'string', enum: ['bearer'] }, token: SECRET },
      },
      {
        type: 'object',
        required: ['name', 'kind', 'username', 'password'],
        properties: { ...SHARED, kind: { type: 'string', enum: ['basic'] }, username: TEXT, password: SECRET },
      },
      {
        type: 'object',
        required: ['name', 'kind', 'tokenUrl', 'clientId', 'clientSecret'],
        properties: {
          ...SHARED,
          kind: { type: 'string', enum: ['oauth2-client-credentials'] },
          tokenUrl: { type: 'string', format: 'uri' },
          clientId: TEXT,
          clientSecret: SECRET,
          scopes: { type: 'array', items: TEXT },
          audience: TEXT,
          clientAuthentication: { type: 'string', enum: ['basic', 'body'], default: 'basic' },
        },
      },
    ],
  },
};
