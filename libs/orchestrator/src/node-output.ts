import { type Artifact, firstText } from '#libs/protocol';

/** A node's output as text: the first text of its first Artifact (row C12). Empty where there is none. */
export function outputText({ artifacts }: { artifacts: readonly Artifact[] }): string {
  return firstText(artifacts[0]?.parts ?? []) ?? '';
}
