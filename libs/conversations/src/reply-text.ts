import type { CalledTask } from '#libs/a2a-client';
import { type Artifact, type Part, spokenParts } from '#libs/protocol';

/** What an agent answers to end the loop. */
export const REPLY_SKIP = 'REPLY_SKIP';
/** What an announcing agent answers to say nothing. */
export const ANNOUNCE_SKIP = 'ANNOUNCE_SKIP';

/** Whether a text is the token and nothing else; a text that contains it is a text. */
export function isToken(text: string, token: string): boolean {
  return text.trim() === token;
}

/**
 * What an agent said: the direct Message, else its Artifacts, else its status Message; so also the question of one that
 * waits. The Parts of one of them are pieces of one text. Where there is no text, its data as JSON.
 */
export function replyText({ reply, artifacts, status }: Pick<CalledTask, 'reply' | 'artifacts' | 'status'>): string {
  const waiting = status?.state === 'TASK_STATE_INPUT_REQUIRED';
  const said = status?.message?.parts ?? [];
  const sources = reply ? [[reply.parts]] : waiting ? [[said]] : [artifacts.map(partsOf), [said]];
  for (const kind of [textOf, dataOf]) {
    for (const source of sources) {
      const text = source.map(kind).filter(Boolean).join('\n\n');
      if (text.trim() !== '') return text;
    }
  }
  return '';
}

function partsOf({ parts }: Artifact): Part[] {
  return parts;
}

function textOf(parts: readonly Part[]): string {
  return spokenParts(parts)
    .map(({ text }) => text ?? '')
    .join('');
}

function dataOf(parts: readonly Part[]): string {
  const data = parts.find((part) => part.data !== undefined)?.data;
  return data === undefined ? '' : JSON.stringify(data);
}
