import type { Config } from '../../../graph/graph.js';
import { approvedName } from './called-agents.js';
import { othersIn, patternsIn } from './patterns.js';

/**
 * Returns the tools of an agent node in a few words: `search, files, …`; `undefined` if it has none. The end
 * `; asks first` says that a person must approve calls of some tools.
 */

export function toolsSummary({ tools, approve }: Config): string | undefined {
  const used = [...patternsIn(tools), ...othersIn(tools).map(approvedName)];
  const asked = patternsIn(approve);
  if (used.length === 0) return undefined;
  const list = used.length > 2 ? `${used.slice(0, 2).join(', ')}, …` : used.join(', ');
  return asked.length === 0 ? list : `${list}; asks first`;
}

export function fallbacksSummary({ fallbacks }: Config): string | undefined {
  const names = patternsIn(fallbacks);
  return names.length === 0 ? undefined : names.join(', then ');
}

export function answerSummary({ output, temperature }: Config): string | undefined {
  const words = [
    ...(output === undefined ? [] : ['data of a schema']),
    ...(typeof temperature === 'number' ? [`temperature ${temperature}`] : []),
  ];
  return words.length === 0 ? undefined : words.join(', ');
}

export function memorySummary({ history, historyTokens }: Config): string | undefined {
  if (history === 'none') return 'nothing';
  return typeof historyTokens === 'number' ? `${historyTokens.toLocaleString()} tokens` : undefined;
}

export function limitsSummary({ maxSteps, budget, onUncertain }: Config): string | undefined {
  const { tokens } = (typeof budget === 'object' && budget !== null ? budget : {}) as { tokens?: unknown };
  const words = [
    ...(typeof maxSteps === 'number' ? [`${maxSteps} model calls`] : []),
    ...(typeof tokens === 'number' ? [`${tokens.toLocaleString()} tokens`] : []),
    ...(onUncertain === 'fail' || onUncertain === 'repeat' ? [`in doubt ${onUncertain}`] : []),
  ];
  return words.length === 0 ? undefined : words.join(', ');
}
