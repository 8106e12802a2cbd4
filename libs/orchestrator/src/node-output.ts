import { type Artifact, joinedText } from '#libs/protocol';

/** Returns a node's output as text: the text of its first Artifact, or an empty text. */
export function outputText({ artifacts }: { artifacts: readonly Artifact[] }): string {
  return joinedText(artifacts[0]?.parts ?? []) ?? '';
}
