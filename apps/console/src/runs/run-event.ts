import type { EventData } from '../console-panel/format-event.js';

/** One step of a run, as the service tells it. */
export interface RunEvent extends EventData {
  type: string;
  sequence: number;
  timestamp: string;
  node_id?: string;
  node_type?: string;
  payload: Readonly<Record<string, unknown>>;
}

/** A Part of a Message or an Artifact (A2A 1.0, section 4.1.6), as far as it is read here. */
export interface Part {
  text?: string;
  data?: unknown;
  url?: string;
  filename?: string;
}

export interface Artifact {
  artifactId: string;
  name?: string;
  parts: Part[];
}

/** The texts of Parts, one under the other; data as JSON. */
export function partsText(parts: readonly Part[]): string {
  return parts.map((part) => part.text ?? part.url ?? JSON.stringify(part.data ?? part)).join('\n');
}
