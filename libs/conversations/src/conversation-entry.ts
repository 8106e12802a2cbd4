import type { ConversationEntry, SaidText } from '#libs/executor';
import { textStart } from '#libs/protocol';
import { sideName, type Side, speakerOf, type SpokenTurn } from './conversation.js';
import type { ConversationState } from './conversation-state.js';
import type { PendingTurn } from './dialogue.js';
import { announcePrompt, replyPrompt } from './reply-prompt.js';
import { ANNOUNCE_SKIP, REPLY_SKIP } from './reply-text.js';

/** Maximum characters of all texts that an entry repeats. */
export const MOST_SAID = 65_536;
const CUT = '\n[There was more: this text was cut.]';

type EntrySource = Pick<ConversationState, 'settings' | 'dialogue' | 'known' | 'before'>;

/** Returns the entry for the speaker of a turn, beside the other side's text; the same for every attempt. */
export function turnEntry({ settings, dialogue, known, before }: EntrySource, pending: PendingTurn): ConversationEntry {
  const { turn, speaker: role } = pending;
  const peerSide: Side = role === 'requester' ? 'target' : 'requester';
  const step = {
    role,
    self: sideName(role, settings),
    peer: sideName(peerSide, settings),
    turn,
    maxTurns: settings.maxTurns,
    skip: REPLY_SKIP,
  };
  // The Message itself has the text of the turn before.
  const missed = dialogue.turns.filter((said) => said.turn > known[role] && said.turn < turn - 1);
  const said = missed.map(({ turn: at, text }): SaidText => ({ by: speakerOf(at) === role ? 'self' : 'peer', text }));
  // An agent that has answered knows these texts.
  const own = role === 'requester' && known.requester < 0 ? before : [];
  const instructions = replyPrompt({ ...step, lastTurn: dialogue.lastTurn });
  return { instructions, ...step, ...limitedTexts([...own, ...said]) };
}

/** Returns the entry for the announcer, beside the last text: the transcript, and the outcome. */
export function announceEntry({ settings, dialogue }: EntrySource, announcer: string): ConversationEntry {
  const { outcome = 'error', turns } = dialogue;
  const sides = { requester: sideName('requester', settings), target: sideName('target', settings) };
  const transcript = limitedTexts(turns.map(saidByName));
  const ending = { ...sides, outcome, skip: ANNOUNCE_SKIP };
  const instructions = announcePrompt({ ...ending, omitted: transcript.omitted ?? 0 });
  return { instructions, role: 'announcer', self: announcer, ...ending, ...transcript };
}

function saidByName({ fromAgent: agent, text }: SpokenTurn): SaidText {
  return { by: 'peer', agent, text };
}

/** Returns the newest texts within the limit; if the newest alone exceeds it, its start. */
export function limitedTexts(said: readonly SaidText[]): Pick<ConversationEntry, 'said' | 'omitted'> {
  let room = MOST_SAID;
  const omitted = said.findLastIndex(({ text }) => (room -= text.length) < 0) + 1;
  const newest = said.at(-1);
  if (newest === undefined) return {};
  if (omitted < said.length) return { said: said.slice(omitted), ...(omitted > 0 && { omitted }) };
  const cut = { ...newest, text: `${textStart(newest.text, MOST_SAID)}${CUT}` };
  return { said: [cut], ...(omitted > 1 && { omitted: omitted - 1 }) };
}
