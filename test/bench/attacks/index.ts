import type { Attack } from './attack.ts';
import { chattyAgents, endlessLists, hangingWebhooks, hastyStreams, largeAnswers } from './peers.ts';
import { compressedMessages, healthWatches, inventedCursors, unreadAnswers } from './readers.ts';
import { costlyAgents, costlyExpressions, largeDefinitions, oddBodies, runTrees } from './work.ts';

/** Attacks that one caller may try against all others, by name. */
export const ATTACKS = {
  'compressed gRPC Messages': compressedMessages,
  'trees of runs': runTrees,
  'large definitions': largeDefinitions,
  'agents that are costly to read': costlyAgents,
  'invented cursors': inventedCursors,
  'unread answers': unreadAnswers,
  'webhooks that hang': hangingWebhooks,
  'endless lists of tools': endlessLists,
  'costly expressions': costlyExpressions,
  'bodies that are costly to read': oddBodies,
  'streams that end at once': hastyStreams,
  'watches of health': healthWatches,
  'large answers of agents': largeAnswers,
  'agents that never pause': chattyAgents,
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof ATTACKS;
