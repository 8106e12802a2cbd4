import type { Task } from '#libs/protocol';
import { rpc, sendTask } from './a2a.js';
import { apiKeyEnv, testCaller } from './callers.js';
import { Talks } from './conversation.js';
import { keepCredential, newSecret } from './credentials.js';
import { BrainstormApi, transforms } from './brainstorm.js';
import { GrpcWire } from './grpc-wire.js';
import { IdentityProvider } from './identity-provider.js';
import { type Stage, useStage } from './stage.js';
import { type Ask, isDenial, isFault, isUnknown, nobodys, told, type Told } from './stranger.js';
import { until } from './until.js';
import { WebhookReceiver } from './webhook-receiver.js';
import type { Endpoints, Headers } from './wire-binding.js';
import { DoorAgent } from './door-agent.js';
import { openDoor } from './doors.js';
import { keepMcpServer } from './mcp-http-server.js';
import { Api, echo, input, linear, output, says, script, unique } from './workflow.js';

/** Callers other than Ann, by authentication mode: with API keys, or with tokens that name their tenants. */
export const STRANGERS = {
  'api-key': ['another caller'],
  jwt: ['another caller of the tenant', 'another tenant'],
} as const;

export const WORLDS = ['api-key', 'jwt'] as const;

/** Ids of Ann's objects that a stranger asks for. */
export interface Annas {
  /** Task that waits. `ended` is a Task that has ended, `child` one of a node. Each has a push config `c`. */
  waiting: Task;
  ended: Task;
  child: string;
  /** Id of a Task of a node that has called a model. */
  prompted: string;
  conversation: string;
  brainstorm: string;
  delivery: string;
  file: string;
  /** Name of a credential, which the callers of Ann's tenant share. */
  credential: string;
  mcpServer: string;
  agent: string;
  model: string;
  limit: string;
  schedule: string;
  trigger: string;
  card: string;
}

/** Service on which Ann has objects of every kind, and strangers have none. */
export interface StrangerStage {
  readonly stage: Stage;
  readonly ann: Api;
  /** Returns the API as one of STRANGERS calls it. */
  stranger(who: string): Api;
  readonly annas: Annas;
  readonly workflow: string;
  readonly grpc: GrpcWire;
  /**
   * Fails if the owner of an id gets the same answer as for an id that does not exist, a similar one, or an internal
   * error.
   */
  expectKnown(ask: Ask, base: string, id: string): Promise<void>;
  /**
   * Fails if a stranger's request for Ann's id is answered differently from one for an id that does not exist, is
   * answered as found, or reveals a text of Ann's.
   */
  expectUnknown(ask: Ask, base: string, id: string): Promise<void>;
}

export function useStrangers(mode: (typeof WORLDS)[number]): StrangerStage {
  const env: Record<string, string> = { GRPC_PORT: '0' };
  const endpoints: Endpoints = { url: '', grpc: '' };
  const denials = new Denials();
  let headers: Callers;
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
    stranger: (who: string) => new Api(stage.parley.url, headers.strangers[who]),
    expectUnknown: async (ask: Ask, base: string, id: string) => {
      const [foreign, { unknown, words }] = [await ask.ask(base, id), await denials.of(ask, base, id)];
      expect(told(foreign, id)).toEqual(words);
      const seen = { status: unknown.status, said: unknown.text ?? unknown.body };
      expect({ ...seen, denial: isDenial(ask, unknown) && !isFault(unknown) }).toEqual({ ...seen, denial: true });
      expect(JSON.stringify(foreign.body ?? foreign.text)).not.toContain(SECRET);
    },
    expectKnown: async ({ ask }: Ask, base: string, id: string) => {
      const [own, unknown] = [await ask(base, id), await ask(base, nobodys(id))];
      expect(told(own, id)).not.toEqual(told(unknown, nobodys(id)));
      const seen = { status: own.status, said: own.text ?? own.body };
      expect({ ...seen, fault: isFault(own), unknown: isUnknown(own) }).toEqual({
        ...seen,
        fault: false,
        unknown: false,
      });
    },
  } as { -readonly [key in keyof StrangerStage]: StrangerStage[key] };
  beforeAll(async () => {
    strangers.ann = new Api(stage.parley.url, headers.ann);
    strangers.workflow = unique('asks');
    Object.assign(endpoints, await endpointsOf(stage.parley.url));
    strangers.annas = await everything(strangers);
  });
  return strangers;
}

/** Cache of the answers for ids that do not exist. Each is requested once for each operation and base URL. */
class Denials {
  private readonly known = new WeakMap<Ask, Map<string, Denial>>();

  async of(ask: Ask, base: string, id: string): Promise<Denial> {
    const places = this.known.get(ask) ?? new Map<string, Denial>();
    this.known.set(ask, places);
    const before = places.get(base);
    if (before) return before;
    const unknown = await ask.ask(base, nobodys(id));
    const denial = { unknown, words: told(unknown, nobodys(id)) };
    places.set(base, denial);
    return denial;
  }
}

interface Denial {
  unknown: Told;
  /** Answer without the parts that identify the request. */
  words: unknown;
}

async function endpointsOf(url: string): Promise<Endpoints> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  return { url, grpc: card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '' };
}

/** Text of Ann's Task, which no stranger may see. */
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
  const prompting = await ann.save(linear(unique('prompts'), echo('a', { model: 'echo', system_prompt: SECRET })));
  const prompted = (await sendTask(ann.base(prompting.name, 'a'), 'hi', { headers })).id;
  const child = (await ann.run(waiting.id)).nodes['q']!.taskId!;
  await rpc(ann.base(workflow, 'q'), 'CreateTaskPushNotificationConfig', { taskId: child, ...config }, { headers });
  return {
    waiting,
    ended,
    child,
    prompted,
    conversation: await conversation(ann, workflow),
    brainstorm: await brainstorm(stage, ann),
    delivery: await delivery(ann, ended.id),
    file: await file(ann),
    credential: await keepCredential(ann, { kind: 'api-key', value: newSecret() }),
    mcpServer: await keepMcpServer(ann),
    agent: await agent(stage, ann),
    model: await model(ann),
    limit: await limit(ann),
    schedule: await schedule(ann, workflow),
    trigger: await trigger(ann, workflow),
    card: await card(ann),
  };
}

async function file(ann: Api): Promise<string> {
  const sent = { 'content-type': 'text/plain' };
  const { body } = await ann.call<{ files: { id: string }[] }>('POST', '/upload', SECRET, sent);
  return body.files[0]!.id;
}

async function agent(stage: Stage, { url, headers }: Api): Promise<string> {
  const elsewhere = await DoorAgent.start();
  stage.defer(() => elsewhere.end());
  return (await openDoor(url, elsewhere.url, {}, headers)).name;
}

async function model(ann: Api): Promise<string> {
  const name = unique('model');
  await ann.call('POST', '/models', { name, provider: 'openai', model: 'hers' });
  return name;
}

async function limit(ann: Api): Promise<string> {
  const name = unique('limit');
  const { status, text } = await ann.call('POST', '/limits', { name, target: `workflows/${name}`, concurrency: 1 });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return name;
}

async function schedule(ann: Api, workflow: string): Promise<string> {
  const name = unique('schedule');
  const { status, text } = await ann.call('POST', '/schedules', {
    ...{ name, workflow, at: '2099-01-01T00:00:00Z', inputs: { in: 'hers' } },
  });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return name;
}

/** Returns the name of a trigger that has had a delivery. */
async function trigger(ann: Api, workflow: string): Promise<string> {
  const [name, token] = [unique('trigger'), newSecret()];
  const secrets = [await keepCredential(ann, { kind: 'bearer', token })];
  const made = await ann.call<{ url: string }>('POST', '/triggers', {
    ...{ name, workflow, webhook: { scheme: 'bearer', secrets }, inputs: { in: 'hers' } },
  });
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
  const sent = await fetch(made.body.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  });
  if (sent.status !== 202) throw new Error(`${sent.status} ${await sent.text()}`);
  return name;
}

/** Returns the id of the pinned card of an agent that Ann called. */
async function card(ann: Api): Promise<string> {
  const { body } = await ann.call<{ cards: { id: string }[] }>('GET', '/agent-cards');
  const [first] = body.cards;
  if (first === undefined) throw new Error('No agent that was called has a card');
  return first.id;
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

interface Callers {
  ann: Headers;
  /** Headers of the strangers, by name. */
  strangers: Record<string, Headers>;
}

function keys(env: Record<string, string>): Callers {
  const [ann, eve] = [testCaller('ann'), testCaller('eve')];
  Object.assign(env, apiKeyEnv(ann, eve));
  return { ann: ann.headers, strangers: { 'another caller': eve.headers } };
}

/** Creates tokens: for another name in the same tenant, and for the same name in another tenant. */
async function tokens(env: Record<string, string>, provider: IdentityProvider): Promise<Callers> {
  Object.assign(env, provider.env());
  const scope = 'agents workflows admin';
  return {
    ann: await provider.headers({ sub: 'ann', org: 'acme', scope }),
    strangers: {
      'another caller of the tenant': await provider.headers({ sub: 'eve', org: 'acme', scope }),
      'another tenant': await provider.headers({ sub: 'ann', org: 'evil', scope }),
    },
  };
}
