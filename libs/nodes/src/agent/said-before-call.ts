import type { RequestContext, SaidText } from '#libs/executor';
import type { ModelMessage } from '#libs/models';
import { describedPart, isFilePart, type Part, textRows, textStart } from '#libs/protocol';
import type { AgentLog } from './agent-log.js';
import { openingOf } from './agent-turn.js';

/** Maximum characters of one tool's result. */
const LONGEST_RESULT = 8_000;

/**
 * Returns the texts of an agent's Task before its model requested the open calls, oldest first. The result is the same
 * in every execution.
 */
export function saidBeforeCall(log: AgentLog, context: Pick<RequestContext, 'task' | 'userMessage'>): SaidText[] {
  const opening = openingOf(log, context).map(({ role, parts }): SaidText => {
    return { by: role === 'ROLE_USER' ? 'peer' : 'self', text: textIn(parts) };
  });
  return [...opening, ...log.said.flatMap(textsOf)].filter(({ text }) => text.trim() !== '');
}

function textsOf(message: ModelMessage): SaidText[] {
  if (message.role === 'tool')
    return message.results.map(({ name, result, error }) => {
      const answer = error ?? (typeof result === 'string' ? result : JSON.stringify(result ?? null));
      return { by: 'peer', text: `The tool ${JSON.stringify(name)} answered:\n${textStart(answer, LONGEST_RESULT)}` };
    });
  return [{ by: message.role === 'assistant' ? 'self' : 'peer', text: textIn(message.parts) }];
}

/** Returns texts, data as JSON, and one line about each file. */
function textIn(parts: readonly Part[]): string {
  const others = parts.filter((part) => part.text === undefined);
  const rows = others.map((part) => (isFilePart(part) ? describedPart(part) : JSON.stringify(part.data ?? null)));
  return [...textRows(parts), ...rows].join('\n\n');
}
