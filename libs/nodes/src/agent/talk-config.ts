import { isJsonObject, type JsonObject, type JsonValue, LONGEST_URL } from '#libs/protocol';

const MOST_TURNS = 20;
const DEFAULT_TURNS = 5;

/** The longest time of one turn: that of every conversation. */
export const LONGEST_TURN_SECONDS = 3_600;

/** How a call becomes a conversation of the calling agent with the one that is called. */
export interface TalkConfig {
  /** Number of turns that may follow the first answer. */
  maxTurns: number;
  /** Reference of the agent that the end is announced to. */
  announce?: string;
  /** True if the call ends with the conversation; false: with the first answer. */
  wait: boolean;
}

/** Returns the JSON Schema of `talk`. @param reference pattern of references to agents */
export function talkSchema(reference: string): JsonObject {
  return {
    type: 'object',
    properties: {
      maxTurns: {
        type: 'integer',
        minimum: 0,
        maximum: MOST_TURNS,
        default: DEFAULT_TURNS,
        description: 'How many turns follow the first answer.',
      },
      announce: {
        type: 'string',
        pattern: reference,
        maxLength: LONGEST_URL,
        description: 'Who is told the last text: the name, the path or the URL of an agent.',
      },
      wait: {
        type: 'boolean',
        default: true,
        description: 'True: the call ends with the conversation. False: it ends with the first answer.',
      },
    },
    additionalProperties: false,
    description: 'Makes a conversation of each call: this agent is the requester, the called agent is the target.',
  };
}

/** A fault: the member, and what that must be. */
type TalkFault = readonly [member: string, rule: string];

/**
 * Returns what is wrong with `talk`.
 * @param announceFault says what is wrong with a reference
 */
export function talkFaults(talk: JsonValue, announceFault: (announce: JsonValue) => string | undefined): TalkFault[] {
  if (!isJsonObject(talk)) return [['talk', 'must be an object']];
  const { maxTurns, announce, wait, ...others } = talk;
  const isCount = Number.isInteger(maxTurns) && (maxTurns as number) >= 0 && (maxTurns as number) <= MOST_TURNS;
  const wrong = announce === undefined ? undefined : announceFault(announce);
  return [
    ...Object.keys(others).map((member): TalkFault => [`talk.${member}`, 'is not a field of talk']),
    ...fault(maxTurns !== undefined && !isCount, 'maxTurns', `must be a whole number from 0 to ${MOST_TURNS}`),
    ...fault(wrong !== undefined, 'announce', wrong),
    ...fault(wait !== undefined && typeof wait !== 'boolean', 'wait', 'must be true or false'),
  ];
}

/** Reads a `talk` without faults. */
export function talkConfig({ maxTurns, announce, wait }: JsonObject): TalkConfig {
  return {
    maxTurns: typeof maxTurns === 'number' ? maxTurns : DEFAULT_TURNS,
    ...(typeof announce === 'string' && { announce }),
    wait: wait !== false,
  };
}

function fault(isWrong: boolean, member: string, rule = ''): TalkFault[] {
  return isWrong ? [[`talk.${member}`, rule]] : [];
}
