/** What JSON can say. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };

/** A JSON object, a JSON Schema for example. */
export type JsonMembers = { [member: string]: Json };

/** A piece of content (A2A 1.0, section 4.1.6): exactly one of `text`, `raw` (base64), `url` and `data` is present. */
export interface ContentPart {
  text?: string;
  raw?: string;
  url?: string;
  data?: Json;
  mediaType?: string;
  filename?: string;
  metadata?: JsonMembers;
}

/** A Message as its sender wrote it (A2A 1.0, section 4.1.4). */
export interface ReceivedMessage {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: 'ROLE_USER' | 'ROLE_AGENT';
  parts: ContentPart[];
  metadata?: JsonMembers;
  extensions?: string[];
  referenceTaskIds?: string[];
}

/** What an Artifact holds: one text, one piece of data, or Parts. */
export type ArtifactContent =
  | { text: string; description?: string }
  | { data: Json; description?: string }
  | { parts: ContentPart[]; description?: string };

/** An Artifact, to be yielded or returned. */
export interface ArtifactOutput {
  readonly artifact: string;
  readonly content: ArtifactContent;
}
