import { isJsonObject, type JsonObject, type JsonValue, LONGEST_URL } from '#libs/protocol';

const MOST_TURNS = 20;
const DEFAULT_TURNS = 5;

/** Maximum time of one turn, as in every conversation. */
export const LONGEST_TURN_SECONDS = 3_600;

/** Settings of a call that is a conversation between the calling and the called agent. */
export interface TalkConfig {
  /** Maximum number of turns after the first answer. */
  maxTurns: number;
  /** Reference of the agent that the end is announced to. */
  announce?: string;
  /** True if the call ends with the conversation; false if it ends with the first answer. */
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

/** Fault: the member, and the rule it violates. */
type TalkFault = readonly [member: string, rule: string];

/**
 * Returns the faults of `talk`.
 * @param announceFault returns the fault of a reference, if any
 */
export function talkFaults(talk: JsonValue, announceFault: (announce: JsonValue) => string | undefined): TalkFault[] {
  if (!isJsonObject(talk)) return [['talk', 'must be an object']];
  const { maxTurns, announce, wait, ...others } = talk;
  const isCount = Number.isInteger(maxTurns) && (maxTurns as number) >= 0 && (maxTurns as number) <= MOST_TURNS;
  const wrong = announce === undefined ? undefined : announceFault(announce);
  return [
    ...Object.keys(others).map((member): TalkFault => [`talk.${member}`, 'is not a field of talk']),
    ...talkFaultIf(maxTurns !== undefined && !isCount, 'maxTurns', `must be a whole number from 0 to ${MOST_TURNS}`),
    ...talkFaultIf(wrong !== undefined, 'announce', wrong),
    ...talkFaultIf(wait !== undefined && typeof wait !== 'boolean', 'wait', 'must be true or false'),
  ];
}

/** Reads a valid `talk`. */
export function talkConfig({ maxTurns, announce, wait }: JsonObject): TalkConfig {
  return {
    maxTurns: typeof maxTurns === 'number' ? maxTurns : DEFAULT_TURNS,
    ...(typeof announce === 'string' && { announce }),
    wait: wait !== false,
  };
}

function talkFaultIf(isWrong: boolean, member: string, rule = ''): TalkFault[] {
  return isWrong ? [[`talk.${member}`, rule]] : [];
}
