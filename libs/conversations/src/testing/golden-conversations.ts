import { AgentCallError } from '#libs/a2a-client';
import { statusUpdate, streamEvent } from '#libs/protocol';
import type { CommandKind } from '../conversation-command.js';
import { WAKE_KEY } from '../conversation-state.js';
import { type Behaviour, DrivenConversation, settingsOf, TalkingAgents } from './driven-conversation.js';

/** Conversations whose logs are stored in `golden/`, by name. Each function repeats the conversation of its log. */
export const GOLDEN_CONVERSATIONS: Readonly<Record<string, () => Promise<DrivenConversation>>> = {
  loop: () => played({}),
  'one-answer': () => played({}, { requester: undefined }),
  self: () => played({}, { requester: 'http://b' }),
  skipped: () => played({ a: () => 'REPLY_SKIP' }),
  waiting: () => played({ b: (nth) => (nth === 0 ? { asks: 'which?' } : 'thanks') }),
  failed: () => played({ a: () => new AgentCallError('client-error', 'HTTP 400') }),
  broken: () => played({ b: () => new Error('password=hunter2') }),
  announced: () => played({}, { announce: 'http://c', maxTurns: 0 }),
  silenced: () => played({ c: () => 'ANNOUNCE_SKIP' }, { announce: 'http://c', maxTurns: 0 }),
  unannounced: () =>
    played({ c: () => new AgentCallError('connect', 'refused') }, { announce: 'http://c', maxTurns: 0 }),
  stopped: () => commanded('stop'),
  injected: () => commanded('inject', 'said instead'),
  paused,
  'paused-said': pausedAndSaid,
  canceled: () => canceled(settingsOf()),
  'canceled-announcing': () => canceled(settingsOf({ announce: 'http://b', maxTurns: 0, target: 'http://a' })),
  'canceled-recovered': canceledRecovered,
  recovered: () => recovered(2),
  'recovered-called': () => recovered(4),
  'recovered-seen': () => recovered(5),
  'recovered-waiting': recoveredWaiting,
  'recovered-announcing': recoveredAnnouncing,
};

type Settings = DrivenConversation['settings'];

function talk(behaviours: Record<string, Behaviour>, fields: { [F in keyof Settings]?: Settings[F] | undefined } = {}) {
  const { requester, ...settings } = { ...settingsOf(), ...fields } as Settings;
  return new DrivenConversation(new TalkingAgents(behaviours), {
    ...settings,
    ...(requester !== undefined && { requester }),
  });
}

async function played(...start: Parameters<typeof talk>): Promise<DrivenConversation> {
  const conversation = talk(...start);
  await conversation.start();
  return conversation;
}

/** Makes a test conversation receive a command of a caller as soon as it has the target's first answer. */
function commanding(conversation: DrivenConversation, kind: CommandKind, text?: string): void {
  conversation.onEvent = () => {
    if (turnsOf(conversation) !== 2 || conversation.commands.all.length > 0) return;
    void conversation.commands.add('', { kind, ...(text !== undefined && { text }) });
  };
}

async function commanded(kind: CommandKind, text?: string): Promise<DrivenConversation> {
  const conversation = talk({});
  commanding(conversation, kind, text);
  await conversation.start();
  return conversation;
}

async function paused(): Promise<DrivenConversation> {
  const conversation = await commanded('pause');
  await conversation.commands.add('', { kind: 'resume' });
  await conversation.resume('', { [WAKE_KEY]: true });
  return conversation;
}

async function pausedAndSaid(): Promise<DrivenConversation> {
  const conversation = await commanded('pause');
  await conversation.resume('said by a caller');
  return conversation;
}

/** Cancels a conversation while `b` works and no Task waits. */
async function canceled(settings: Settings): Promise<DrivenConversation> {
  const conversation = new DrivenConversation(new TalkingAgents({ b: () => ({ hangs: true }) }), settings);
  conversation.onEvent = (event) => {
    if (JSON.stringify(event).includes('"parley/step":{"call":') && hangs(conversation)) conversation.cancel();
  };
  await conversation.start();
  return conversation;
}

function hangs({ agents }: DrivenConversation): boolean {
  return agents.calls.at(-1)?.startsWith('send b ') ?? false;
}

/**
 * Shuts a conversation down while `b` works on an answer, after the Tasks of both sides have asked a question. Another
 * process resumes the conversation from its log, and cancels it there.
 */
async function canceledRecovered(): Promise<DrivenConversation> {
  const first = talk({ a: () => ({ asks: 'a?' }), b: (nth) => (nth === 0 ? { asks: 'b?' } : { hangs: true }) });
  const ended = first.start();
  await first.agents.called('send b a?');
  first.shutDown();
  await ended.catch(() => undefined);
  const rest = new DrivenConversation(first.agents, first.settings);
  rest.cancel();
  await rest.recover(first.log);
  return rest;
}

/** Resumes a conversation after a crash. Only the first `events` events of its log were stored. */
async function recovered(events: number): Promise<DrivenConversation> {
  const first = await played({});
  const rest = new DrivenConversation(first.agents, first.settings);
  const [, ...made] = first.agents.kept.keys();
  for (const taskId of made) rest.children.push({ taskId, parentReference: 'of another call' });
  await rest.recover(first.log.slice(0, events));
  return rest;
}

/**
 * Resumes a conversation after a crash. The log names a Task of `b` that waits for input, and the text of `a` for that
 * Task was not sent yet.
 */
async function recoveredWaiting(): Promise<DrivenConversation> {
  const first = await played({ b: (nth) => (nth === 0 ? { asks: 'which?' } : 'thanks') });
  const rest = new DrivenConversation(new TalkingAgents({ b: () => 'thanks' }), first.settings);
  const [waiting = ''] = first.agents.kept.keys();
  const reference = { taskId: waiting, contextId: 'context-of-b' };
  rest.agents.kept.set(waiting, [statusUpdate(reference, 'TASK_STATE_INPUT_REQUIRED', 'which?')]);
  await rest.recover(first.log.slice(0, 6));
  return rest;
}

async function recoveredAnnouncing(): Promise<DrivenConversation> {
  const first = await played({}, { announce: 'http://c', maxTurns: 0 });
  const rest = new DrivenConversation(first.agents, first.settings);
  const [, announcing = ''] = first.agents.kept.keys();
  rest.children.push({ taskId: announcing, parentReference: 'turn#announce' });
  const end = first.log.findIndex((event) => JSON.stringify(event).includes('"phase":"complete"'));
  await rest.recover(first.log.slice(0, end + 1));
  return rest;
}

function turnsOf({ log }: DrivenConversation): number {
  return log.filter((event) => {
    const emitted = 'statusUpdate' in event ? streamEvent(event.statusUpdate.metadata) : undefined;
    return JSON.stringify(emitted ?? '').includes('"phase":"turn"');
  }).length;
}
