import { createClient, ParleyError } from '#libs/client';
import type { JsonObject } from '#libs/protocol';
import { describeRunClient, Refused, type RunClient } from '../contracts/run-client.contract.js';
import { useCluster } from '../support/cluster-stage.js';
import { Api, type ApiReply, type RunEvent } from '../support/workflow.js';

/** Creates the client of the published package. */
function ofThePackage(url: string): RunClient {
  const client = createClient({ url });
  return {
    run: async (workflow, inputs, idempotencyKey) =>
      (await told(client.run(workflow, inputs, { idempotencyKey }))).runId,
    events: (runId, since = 0) => client.events(runId, { since }),
    ended: async (runId) => (await client.wait(runId)) as Awaited<ReturnType<RunClient['ended']>>,
    answer: (runId, node, data) => told(client.answer(runId, { node, parts: [{ data }] })),
    cancel: async (runId) => (await client.cancel(runId)).status,
    rerun: (runId, from) => client.rerun(runId, { from }),
  };
}

async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { status, reason, errors } = error;
    throw new Refused({ status, reason, paths: errors.map(({ path }) => path) });
  }
}

/** Creates the client of the other tests, which does not use the package. */
function ofTheTests(url: string): RunClient {
  const api = new Api(url);
  return {
    run: async (workflow, inputs, key) => {
      const path = `/workflows/${workflow}/runs`;
      return taken(await api.call<{ runId: string }>('POST', path, { inputs }, { 'idempotency-key': key })).runId;
    },
    events: (runId, since = 0) => followed(api, runId, since),
    ended: (runId) => api.ended(runId),
    answer: async (runId, node, data) => {
      taken(await api.call('POST', `/runs/${runId}/answers`, { node, parts: [{ data }] }));
    },
    cancel: async (runId) => taken(await api.call<{ status: string }>('POST', `/runs/${runId}/cancel`)).status,
    rerun: async (runId, from) =>
      taken(await api.call<{ runId: string; origin: string }>('POST', `/runs/${runId}/rerun`, { from })),
  };
}

async function* followed(api: Api, runId: string, since: number): AsyncGenerator<RunEvent> {
  let last = since;
  for (;;) {
    const reader = await api.events(runId, last).catch(() => undefined);
    for (;;) {
      const frame = await reader?.next().catch(() => undefined);
      if (frame === undefined) break;
      last = frame.data.sequence;
      yield frame.data;
      if (frame.data.type === 'done') return;
    }
  }
}

function taken<T>({ status, body }: ApiReply<T>): T {
  if (status < 300) return body;
  const { reason, errors = [] } = body as { reason?: string; errors?: { path: string }[] } & JsonObject;
  throw new Refused({ status, reason, paths: errors.map(({ path }) => path) });
}

describe.each([1, 3])('a service of %i replicas', (replicas) => {
  const stage = useCluster({ replicas });
  const url = (): string => stage.cluster.balancer.url;

  describe.each([
    ['the package', ofThePackage],
    ['the tests', ofTheTests],
  ])('its client, that of %s', (_, clientOf) => {
    describeRunClient(
      () => clientOf(url()),
      () => stage.api,
      () => stage.cluster.balancer.cut(),
    );
  });
});
