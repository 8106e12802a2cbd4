import { keepCredential, newSecret } from '../support/credentials.js';
import { startGuardedSdkServer } from '../support/guarded-sdk-server.js';
import { useSharedStage } from '../support/shared-stage.js';
import { external, linear, unique } from '../support/workflow.js';

const stage = useSharedStage();

const EVERY = (['1.0', '0.3'] as const).flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON'] as const).flatMap((binding) =>
    [true, false].map((streaming) => [version, binding, streaming] as const),
  ),
);

describe.each(EVERY)(
  "an agent on the official SDK's server: A2A %s, %s, streaming: %s",
  (version, binding, streaming) => {
    it('knows who calls, and refuses whom it does not know', async () => {
      const [known, stranger] = [newSecret(), newSecret()];
      const server = await startGuardedSdkServer({ version, binding, streaming, users: { [known]: 'parley' } });
      stage.defer(() => server.stop());
      // Where the card says it, and not where the credential would go by itself.
      const auth = await keepCredential(stage.api, { kind: 'api-key', parameter: 'X-Own', value: known });
      const run = await stage.api.finish(linear(unique('w'), external('e', server.url, { auth })));
      expect(run.nodes.e?.error).toBeUndefined();
      expect(run.nodes.e).toMatchObject({ artifacts: [{ parts: [{ text: 'hello parley' }] }] });
      expect(server.refused()).toBe(0);

      const wrong = await keepCredential(stage.api, { kind: 'api-key', value: stranger });
      const refused = await stage.api.finish(linear(unique('w'), external('e', server.url, { auth: wrong })));
      expect(refused.nodes.e?.error).toContain('HTTP 401: the agent does not accept who calls');
      expect(server.refused()).toBe(1);

      const misfit = await keepCredential(stage.api, { kind: 'bearer', token: known });
      const unsent = await stage.api.finish(linear(unique('w'), external('e', server.url, { auth: misfit })));
      expect(unsent.nodes.e?.error).toContain('the agent asks for key (apiKey in header X-Agent-Key)');
      expect(server.refused()).toBe(1);
    });
  },
);
