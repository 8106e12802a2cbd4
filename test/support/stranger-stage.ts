import type { Task } from '#libs/protocol';
import { rpc, sendTask } from './a2a.js';
import { apiKeyEnv, testCaller } from './callers.js';
import { Talks } from './conversation.js';
import { BrainstormApi, transforms } from './brainstorm.js';
import { GrpcWire } from './grpc-wire.js';
import { IdentityProvider } from './identity-provider.js';
import { type Stage, useStage } from './stage.js';
import { nobodys, told, type Ask } from './stranger.js';
import { until } from './until.js';
import { WebhookReceiver } from './webhook-receiver.js';
import type { Endpoints, Headers } from './wire-binding.js';
import { Api, input, linear, output, says, script, unique } from './workflow.js';

/** What keeps two callers apart: their names within one tenant, or their tenants. */
export const WORLDS = ['api-key', 'jwt'] as const;

/** What of Ann's Eve asks for. */
export interface Annas {
  /** A Task that waits, one that has ended, and one of a node: each with a push config `c`. */
  waiting: Task;
  ended: Task;
  child: string;
  conversation: string;
  brainstorm: string;
  delivery: string;
}

/** A service on which Ann has some of everything, and Eve nothing. */
export interface StrangerStage {
  readonly stage: Stage;
  readonly ann: Api;
  readonly eve: Api;
  readonly annas: Annas;
  readonly workflow: string;
  readonly grpc: GrpcWire;
  /** Fails where the owner of an id gets the same answer as for an id that nobody has. */
  expectKnown(ask: Ask, base: string, id: string): Promise<void>;
  /** Fails where an id of Ann's is answered otherwise than one that nobody has, or a word of hers is told. */
  expectUnknown(ask: Ask, base: string, id: string): Promise<void>;
}

export function useStrangers(mode: (typeof WORLDS)[number]): StrangerStage {
  const env: Record<string, string> = { GRPC_PORT: '0' };
  const endpoints: Endpoints = { url: '', grpc: '' };
  let headers: { ann: Headers; eve: Headers };
  let provider: IdentityProvider | undefined;
  beforeAll(async () => {
    if (mode === 'jwt') provider = await IdentityProvider.start();
    headers = provider ? await tokens(env, provider) : keys(env);
  });
  const stage = useStage({ env });
  afterAll(() => provider?.stop());
  const strangers = {
    stage,
    grpc: new GrpcWire(() => endpoints),
    expectUnknown: async ({ ask }: Ask, base: string, id: string) => {
      const [foreign, unknown] = [await ask(base, id), await ask(base, nobodys(id))];
      expect(told(foreign, id)).toEqual(told(unknown, nobodys(id)));
      expect(JSON.stringify(foreign.body ?? foreign.text)).not.toContain(SECRET);
    },
    expectKnown: async ({ ask }: Ask, base: string, id: string) => {
      const [own, unknown] = [await ask(base, id), await ask(base, nobodys(id))];
      expect(told(own, id)).not.toEqual(told(unknown, nobodys(id)));
    },
  } as { -readonly [key in keyof StrangerStage]: StrangerStage[key] };
  beforeAll(async () => {
    strangers.ann = new Api(stage.parley.url, headers.ann);
    strangers.eve = new Api(stage.parley.url, headers.eve);
    strangers.workflow = unique('asks');
    Object.assign(endpoints, await endpointsOf(stage.parley.url));
    strangers.annas = await everything(strangers);
  });
  return strangers;
}

async function endpointsOf(url: string): Promise<Endpoints> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  return { url, grpc: card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '' };
}

/** What a Task of Ann's says. */
export const SECRET = 'Which one, dear Ann?';

async function everything({ stage, ann, workflow }: StrangerStage): Promise<Annas> {
  const { headers } = ann;
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  const config = { id: 'c', url: hook.url };
  await ann.save(linear(workflow, input('in'), script('q', { ask: SECRET }), output('out')));
  const told_ = await ann.save(linear(unique('says'), input('in'), script('s', ...says(SECRET)), output('out')));
  const configuration = { taskPushNotificationConfig: config };
  const waiting = await sendTask(ann.base(workflow), 'hi', { headers, configuration });
  const ended = await sendTask(ann.base(told_.name), 'hi', { headers, configuration });
  const child = (await ann.run(waiting.id)).nodes['q']!.taskId!;
  await rpc(ann.base(workflow, 'q'), 'CreateTaskPushNotificationConfig', { taskId: child, ...config }, { headers });
  return {
    waiting,
    ended,
    child,
    conversation: await conversation(ann, workflow),
    brainstorm: await brainstorm(stage, ann),
    delivery: await delivery(ann, ended.id),
  };
}

async function conversation(ann: Api, workflow: string): Promise<string> {
  const agent = ann.base(workflow, 'q');
  return new Talks(ann).start({ requester: agent, target: agent, message: SECRET, maxTurns: 1 });
}

async function brainstorm(stage: Stage, ann: Api): Promise<string> {
  const agents = [await stage.fake(), await stage.fake()];
  for (const agent of agents) agent.always(transforms());
  const storms = new BrainstormApi(ann);
  const id = await storms.start(agents, { idea: SECRET });
  await storms.rested(id);
  return id;
}

async function delivery(ann: Api, taskId: string): Promise<string> {
  const first = async () => {
    const { body } = await ann.call<{ deliveries: { id: string }[] }>('GET', `/deliveries?taskId=${taskId}`);
    return body.deliveries[0]?.id;
  };
  return until(first, { what: 'a delivery' });
}

function keys(env: Record<string, string>): { ann: Headers; eve: Headers } {
  const [ann, eve] = [testCaller('ann'), testCaller('eve')];
  Object.assign(env, apiKeyEnv(ann, eve));
  return { ann: ann.headers, eve: eve.headers };
}

/** The same name in two tenants. */
async function tokens(
  env: Record<string, string>,
  provider: IdentityProvider,
): Promise<{ ann: Headers; eve: Headers }> {
  Object.assign(env, provider.env());
  return {
    ann: await provider.headers({ sub: 'ann', org: 'acme' }),
    eve: await provider.headers({ sub: 'ann', org: 'evil' }),
  };
}
