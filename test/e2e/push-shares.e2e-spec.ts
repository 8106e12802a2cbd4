import { sendTask } from '../support/a2a.js';
import { ANN, EVE, KNOWS_CALLERS, type TestCaller } from '../support/callers.js';
import { type BadReceiver, HangingReceivers } from '../support/hanging-receivers.js';
import { startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, linear, script, unique } from '../support/workflow.js';

/** Far more origins than one process has places for. */
const ORIGINS = 60;
/** Attempts that one caller's receivers may have under way in a process while they have not answered. */
const SHARE = 8;

const stage = useStage(KNOWS_CALLERS);
let path: string;
const bad: HangingReceivers[] = [];

beforeAll(async () => {
  path = await scripted();
});

afterEach(async () => {
  // Attempts that hang end with their receivers, and hold no place of the next test.
  await Promise.all(bad.splice(0).map((receivers) => receivers.stop()));
  await stage.database.query('DELETE FROM push_config; DELETE FROM push_queue');
});

const BAD: BadReceiver[] = ['silent', 'closed', 'drips', 'redirects', 'late'];
it.each(BAD)('receivers of one caller that are %s delay no notification of another caller', async (kind) => {
  const hanging = await hangingReceivers(ORIGINS, kind);
  await notifyAll(EVE, hanging.urls);
  if (kind !== 'closed') await until(() => hanging.connections > 0, { what: 'the first attempts' });
  const hook = await receiver();
  await notifyAll(ANN, [hook.url]);
  await hook.ended();
  // Those that hang would still be at the first of their attempts, which are more than one process has places for.
  if (kind === 'silent' || kind === 'drips') expect(hanging.connections).toBeLessThan(ORIGINS);
});

it('attempts at receivers that hang are a share of the places, and other jobs are done meanwhile', async () => {
  const hanging = await hangingReceivers(ORIGINS, 'silent');
  await notifyAll(EVE, hanging.urls);
  await until(() => hanging.connections >= SHARE, { what: 'attempts in all places of the caller' });
  const waited = await sendTask(`${stage.parley.url}${await scripted(1_000)}`, 'go', { headers: ANN.headers });
  expect(waited.status.state).toBe('TASK_STATE_COMPLETED');
});

it('two replicas notify another caller, while receivers of one hang at both', async () => {
  const second = await startParley({ databaseUrl: stage.database.url, ...KNOWS_CALLERS });
  stage.defer(() => second.stop());
  const hanging = await hangingReceivers(ORIGINS, 'silent');
  await notifyAll(EVE, hanging.urls);
  await until(() => hanging.connections >= 2 * SHARE, { what: 'attempts in all places of the caller at both' });
  for (const { url } of [stage.parley, second]) {
    const hook = await receiver();
    await notifyAll(ANN, [hook.url], url);
    await hook.ended();
  }
  expect(hanging.connections).toBeLessThan(ORIGINS);
});

/** A Task of a caller for each webhook. */
async function notifyAll({ headers }: TestCaller, urls: readonly string[], at = stage.parley.url): Promise<void> {
  await Promise.all(
    urls.map((url) =>
      sendTask(`${at}${path}`, 'go', { configuration: { taskPushNotificationConfig: { url } }, headers }),
    ),
  );
}

async function hangingReceivers(count: number, kind: BadReceiver): Promise<HangingReceivers> {
  const receivers = await HangingReceivers.start(count, kind);
  bad.push(receivers);
  return receivers;
}

async function receiver(): Promise<WebhookReceiver> {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  return hook;
}

/** The path of an agent that works for a moment. */
async function scripted(sleep = 0): Promise<string> {
  const name = unique('share');
  const steps = sleep > 0 ? [{ sleep }] : [];
  await new Api(stage.parley.url, ANN.headers).save(linear(name, script('s', ...steps, { complete: 'done' })));
  return `/a2a/workflows/${name}/nodes/s`;
}
