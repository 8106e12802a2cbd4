import { type Artifact, joinedText } from '#libs/protocol';

/** A node's output as text: the text of its first Artifact. Empty where there is none. */
export function outputText({ artifacts }: { artifacts: readonly Artifact[] }): string {
  return joinedText(artifacts[0]?.parts ?? []) ?? '';
}
