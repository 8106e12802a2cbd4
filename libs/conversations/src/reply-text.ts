import type { CalledTask } from '#libs/a2a-client';
import { type Artifact, type Part, spokenParts } from '#libs/protocol';

/** Answer of an agent that ends the loop. */
export const REPLY_SKIP = 'REPLY_SKIP';
/** Answer of an announcer that says nothing. */
export const ANNOUNCE_SKIP = 'ANNOUNCE_SKIP';

/** True if a text is the token alone; a text that contains the token is an ordinary text. */
export function isToken(text: string, token: string): boolean {
  return text.trim() === token;
}

/**
 * Returns the text of an agent's answer: of the direct Message, else of its Artifacts, else of its status Message, and
 * of the question if it waits. The Parts of one source form one text. Without a text, it is the data as JSON.
 */
export function replyText({ reply, artifacts, status }: Pick<CalledTask, 'reply' | 'artifacts' | 'status'>): string {
  const waiting = status?.state === 'TASK_STATE_INPUT_REQUIRED';
  const said = status?.message?.parts ?? [];
  const sources = reply ? [[reply.parts]] : waiting ? [[said]] : [artifacts.map(artifactParts), [said]];
  for (const kind of [spokenText, dataText]) {
    for (const source of sources) {
      const text = source.map(kind).filter(Boolean).join('\n\n');
      if (text.trim() !== '') return text;
    }
  }
  return '';
}

function artifactParts({ parts }: Artifact): Part[] {
  return parts;
}

function spokenText(parts: readonly Part[]): string {
  return spokenParts(parts)
    .map(({ text }) => text ?? '')
    .join('');
}

function dataText(parts: readonly Part[]): string {
  const data = parts.find((part) => part.data !== undefined)?.data;
  return data === undefined ? '' : JSON.stringify(data);
}
