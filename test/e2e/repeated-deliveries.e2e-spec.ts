import type { JsonObject } from '#libs/protocol';
import { keepCredential, newSecret } from '../support/credentials.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { input, linear, output, unique } from '../support/workflow.js';

interface Answer {
  status: number;
  body: { number: string; runId?: string; reason?: string };
}

const stage = useSharedStage();

/** Webhook of a workflow, whose deliveries have ids. */
interface Hook {
  name: string;
  send: (id: string) => Promise<Answer>;
}

/** Saves a workflow and a trigger of it that takes its input from `text`. */
async function saveHook(text: string): Promise<Hook> {
  const token = newSecret();
  const secrets = [await keepCredential(stage.api, { kind: 'bearer', token })];
  const { name: workflow } = await stage.api.save(linear(unique('echoes'), input('text'), output('out')));
  const [name, webhook] = [unique('repeated'), { scheme: 'bearer', secrets, idHeader: 'X-Id' }];
  const made = await stage.api.call<{ url: string }>('POST', '/triggers', {
    name,
    workflow,
    webhook,
    inputs: { text },
  });
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
  const send = async (id: string): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'x-id': id };
    const reply = await fetch(made.body.url, { method: 'POST', headers, body: '{"text":"x"}' });
    return { status: reply.status, body: (await reply.json()) as Answer['body'] };
  };
  return { name, send };
}

async function changeState(number: string, state: string, reason: string | null): Promise<void> {
  const text = 'UPDATE trigger_delivery SET state = $2, reason = $3 WHERE number = $1';
  await stage.database.query(text, [number, state, reason]);
}

describe('A delivery of a webhook', () => {
  it('shows its run as soon as that exists, before it is noted as started', async () => {
    const { name, send } = await saveHook('${body.text}');
    const { number, runId = '' } = (await send('one')).body;
    const isStored = async (): Promise<boolean> => (await stage.api.call('GET', `/runs/${runId}`)).status === 200;
    await until(isStored, { what: `the begin of ${runId}` });
    await stage.api.ended(runId);
    await changeState(number, 'starting', null);
    const { body } = await stage.api.call<{ deliveries: JsonObject[] }>('GET', `/triggers/${name}/deliveries`);
    expect(body.deliveries).toMatchObject([{ state: 'completed', runId }]);
  });

  it('is answered without a run, and with the reason, if it is repeated after its run could not start', async () => {
    const { send } = await saveHook('${body.text}');
    const { number } = (await send('one')).body;
    await changeState(number, 'failed', 'gone');
    expect(await send('one')).toEqual({ status: 202, body: { number, reason: 'gone' } });
  });

  it('loses its content if it is rejected again after a hundred newer ones', async () => {
    const { name, send } = await saveHook('${body.missing}');
    expect((await send('early')).status).toBe(422);
    await stage.database.query(FILL, [name]);
    expect((await send('late')).status).toBe(422);
    expect((await send('early')).status).toBe(422);
    expect(await stage.database.query(KEPT, [name])).toEqual([{ recent: 100, events: 100, early: false }]);
  });
});

const FILL = `
  INSERT INTO trigger_delivery (trigger_id, delivery_key, cause, state, is_open, tenant, owner, workflow, event, event_bytes)
  SELECT trigger_id, 'newer-' || n, 'delivery', 'filtered', false, tenant, owner, workflow, '{}', 2
  FROM workflow_trigger, generate_series(1, 150) AS n WHERE name = $1`;

const KEPT = `
  SELECT count(*) FILTER (WHERE is_recent)::int AS recent, count(event)::int AS events,
    bool_or(event IS NOT NULL) FILTER (WHERE delivery_key = 'early') AS early
  FROM trigger_delivery JOIN workflow_trigger USING (trigger_id) WHERE name = $1`;
