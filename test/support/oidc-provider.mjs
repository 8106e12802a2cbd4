import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

export const CLIENT_ID = 'parley-console';
export const CLIENT_SECRET = 'a-client-secret-of-the-console-00';

/** People by name, with the claims in their ID tokens. */
export const PEOPLE = {
  ann: { org: 'acme', realm_access: { roles: ['parley-admins'] } },
  bob: { org: 'acme', realm_access: { roles: ['parley-users', 'others'] } },
  eve: { org: 'umbrella', realm_access: { roles: ['parley-admins'] } },
  mallory: { org: 'acme', realm_access: { roles: ['others'] } },
  nobody: { realm_access: { roles: ['parley-users'] } },
};

/** Starts the provider on a port of loopback, for a service at `publicUrl`. */
export async function startOidcProvider(publicUrl, port = 0) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const state = { person: 'ann', refuses: false };
  const provider = new Provider(issuer, await configuration(publicUrl));
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url.startsWith('/interaction/')) void interact(provider, state, request, response);
    else answer(request, response);
  });
  return {
    issuer,
    state,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function configuration(publicUrl) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const entries = new Map();
  return {
    adapter: (model) => new Entries(model, entries),
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'one', use: 'sig', alg: 'RS256' }] },
    ttl: { AccessToken: 600, AuthorizationCode: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${publicUrl}/auth/callback`],
        post_logout_redirect_uris: [`${publicUrl}/`],
      },
    ],
    claims: { openid: ['sub'], profile: ['org', 'realm_access'] },
    cookies: { keys: ['a key of the provider'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { logoutSource: confirmLogout } },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...PEOPLE[id] }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  };
}

/** Renders the page that asks the person to confirm the sign-out. */
function confirmLogout(context, form) {
  const button = '<button type="submit" form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>';
  context.body = `<!doctype html><title>Sign out</title>${form}${button}`;
}

/** In-memory storage of the provider. */
class Entries {
  constructor(model, all) {
    this.model = model;
    this.all = all;
  }

  key(id) {
    return `${this.model}:${id}`;
  }

  async upsert(id, payload) {
    this.all.set(this.key(id), payload);
  }

  async find(id) {
    return this.all.get(this.key(id));
  }

  async findByUid(uid) {
    return [...this.all].find(([key, entry]) => key.startsWith(this.key('')) && entry.uid === uid)?.[1];
  }

  async consume(id) {
    this.all.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id) {
    this.all.delete(this.key(id));
  }

  async revokeByGrantId(grantId) {
    for (const [key, entry] of this.all) if (entry.grantId === grantId) this.all.delete(key);
  }
}

/** Acts as the person: signs in or declines, and agrees to everything else. */
async function interact(provider, { person, refuses }, request, response) {
  const details = await provider.interactionDetails(request, response);
  if (refuses) return provider.interactionFinished(request, response, { error: 'access_denied' });
  if (details.prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId: person } });
  const grant = new provider.Grant({ accountId: details.session.accountId, clientId: details.params.client_id });
  grant.addOIDCScope(details.params.scope);
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}
