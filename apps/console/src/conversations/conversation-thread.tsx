import { ArrowDown } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '../components/button.js';
import { Markdown } from '../components/markdown.js';
import { useStickToEnd } from '../components/use-stick-to-end.js';
import {
  announcementSentence,
  type Conversation,
  endingSentence,
  nextSpeaker,
  type SpeakerSide,
  shownName,
  sideOf,
  type Turn,
} from './conversation.js';
import type { TurnNotes } from './turn-notes.js';
import { TurnTranscript, TurnUnderWay } from './turn-work.js';

interface ConversationThreadProps {
  conversation: Conversation;
  notes: TurnNotes;
}

/**
 * Shows the turns of a conversation, the requester's on the right. The view follows new turns until the reader scrolls
 * up.
 */
export function ConversationThread({ conversation, notes: { tasks, injected } }: ConversationThreadProps) {
  const { turns, paused, question } = conversation;
  const named = location.hash.slice(1);
  const box = useRef<HTMLDivElement>(null);
  const { follows, toEnd } = useStickToEnd(box, conversation, named === '');
  useEffect(() => document.getElementById(named)?.scrollIntoView({ block: 'center' }), [named]);
  const speaker = nextSpeaker(conversation);
  return (
    <div className="relative min-h-0 grow">
      <div ref={box} role="log" aria-label="Turns" tabIndex={0} className="h-full overflow-auto px-4 py-4">
        <ol className="mx-auto flex max-w-3xl flex-col gap-4">
          {turns.map((turn) => (
            <Bubble
              key={turn.turn}
              turn={turn}
              isInjected={injected.has(turn.turn)}
              taskId={ownTask(turn.fromAgent, tasks.get(turn.turn))}
            />
          ))}
          {speaker && !paused && (
            <Typing
              side={speaker.side}
              name={shownName(speaker.name)}
              taskId={ownTask(speaker.name, tasks.get((turns.at(-1)?.turn ?? -1) + 1))}
              onGrow={() => follows && toEnd()}
            />
          )}
          {speaker && paused && <Note text={question ?? `Paused. ${shownName(speaker.name)} speaks next.`} />}
          <Note text={endingSentence(conversation)} />
          <Note text={announcementSentence(conversation)} />
        </ol>
      </div>
      {!follows && (
        <Button className="absolute right-4 bottom-3 shadow-md" onClick={toEnd}>
          <ArrowDown className="size-4" aria-hidden /> To the latest turn
        </Button>
      )}
    </div>
  );
}

/** Returns the Task of a turn; `undefined` for a remote agent, whose Tasks this service does not store. */
function ownTask(agent: string, taskId: string | undefined): string | undefined {
  return /^https?:/i.test(agent) ? undefined : taskId;
}

interface BubbleProps {
  turn: Turn;
  /** True if a person injected the turn in place of the agent. */
  isInjected: boolean;
  taskId: string | undefined;
}

function Bubble({ turn, isInjected, taskId }: BubbleProps) {
  const { turn: number, fromAgent, text, ts } = turn;
  const side = sideOf(number);
  const at = new Date(ts);
  return (
    <li id={`turn-${number}`} data-turn={number} data-side={side} className={getSideClass(side)}>
      <p className="mb-1 flex flex-wrap items-baseline gap-x-2 px-1 text-xs text-muted-foreground">
        <span className="font-medium break-all text-foreground">
          {isInjected ? `A person, in place of ${shownName(fromAgent)}` : shownName(fromAgent)}
        </span>
        <a href={`#turn-${number}`} className="hover:underline">
          turn {number}
        </a>
        <time dateTime={at.toISOString()} title={at.toLocaleString()}>
          {at.toLocaleTimeString()}
        </time>
      </p>
      <div
        className={`rounded-lg border px-3.5 py-2.5 ${isInjected ? 'border-dashed' : ''} ${side === 'requester' ? 'border-primary/30 bg-primary/8' : 'bg-card'}`}
      >
        <Markdown text={text} />
      </div>
      {taskId !== undefined && (
        <div className="mt-1 px-1">
          <TurnTranscript key={taskId} taskId={taskId} />
        </div>
      )}
    </li>
  );
}

interface TypingProps {
  side: SpeakerSide;
  name: string;
  taskId: string | undefined;
  onGrow: () => void;
}

function Typing({ side, name, taskId, onGrow }: TypingProps) {
  return (
    <li data-typing={side} className={getSideClass(side)}>
      <p
        role="status"
        className="flex items-center gap-2 rounded-lg border border-dashed px-3.5 py-2.5 text-sm text-muted-foreground"
      >
        <span aria-hidden className="flex gap-1">
          {[0, 150, 300].map((delay) => (
            <span
              key={delay}
              style={{ animationDelay: `${delay}ms` }}
              className="size-1.5 animate-bounce rounded-full bg-current"
            />
          ))}
        </span>
        {name} is at work …
      </p>
      {taskId !== undefined && (
        <div className="mt-1">
          <TurnUnderWay key={taskId} taskId={taskId} name={name} onGrow={onGrow} />
        </div>
      )}
    </li>
  );
}

function Note({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return <li className="self-center text-center text-sm text-muted-foreground">{text}</li>;
}

function getSideClass(side: SpeakerSide): string {
  return `max-w-[88%] min-w-0 ${side === 'requester' ? 'self-end' : 'self-start'}`;
}
