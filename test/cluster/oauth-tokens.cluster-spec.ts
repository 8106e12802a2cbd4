import { useCluster } from '../support/cluster-stage.js';
import { newSecret } from '../support/credentials.js';
import { after, answers } from '../support/fake-behaviour.js';
import { TokenServer } from '../support/token-server.js';
import { external, linear, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 2 });
const TOKEN_S = 5;
const RUN_MS = 60_000;
const CALL_MS = 1_000;

it('no 401 reaches runs of a minute whose tokens live for five seconds, on two replicas', async () => {
  const tokens = await TokenServer.start(TOKEN_S);
  try {
    const agent = await stage.fake({ admits: ({ headers }) => tokens.accepts(headers.authorization) });
    agent.always(after(CALL_MS, answers('ok')));
    const client = {
      kind: 'oauth2-client-credentials',
      tokenUrl: tokens.url,
      clientId: 'p',
      clientSecret: newSecret(),
    };
    const auth = unique('cred');
    expect((await stage.api.call('POST', '/credentials', { name: auth, ...client })).status).toBe(201);
    const calls = Array.from({ length: RUN_MS / CALL_MS }, (_, index) => external(`e${index}`, agent.url, { auth }));
    const workflow = await stage.api.save(linear(unique('w'), ...calls));
    const begun = performance.now();
    const runs = await Promise.all([0, 1].map((replica) => stage.at(replica).start(workflow.name)));
    const ended = await Promise.all(runs.map((id) => stage.api.ended(id)));
    expect(ended.map(({ status }) => status)).toEqual(['completed', 'completed']);
    const seconds = (performance.now() - begun) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(RUN_MS / 1000);
    // Each replica fetches its own, before each one ends.
    expect(tokens.requests.length).toBeGreaterThanOrEqual(2 * (RUN_MS / 1000 / TOKEN_S));
    expect(tokens.requests.length).toBeLessThan(2 * (seconds / (TOKEN_S / 2)));
  } finally {
    await tokens.stop();
  }
});
