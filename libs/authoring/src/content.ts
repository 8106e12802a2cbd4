/** JSON value. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };

/** JSON object, such as a JSON Schema. */
export type JsonMembers = { [member: string]: Json };

/** Piece of content (A2A 1.0, section 4.1.6): exactly one of `text`, `raw` (base64), `url` and `data` is present. */
export interface ContentPart {
  text?: string;
  raw?: string;
  url?: string;
  data?: Json;
  mediaType?: string;
  filename?: string;
  metadata?: JsonMembers;
}

/** Message as its sender wrote it (A2A 1.0, section 4.1.4). */
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

/** Content of an Artifact: one text, one data value, or Parts. */
export type ArtifactContent =
  | { text: string; description?: string }
  | { data: Json; description?: string }
  | { parts: ContentPart[]; description?: string };

/** Artifact to yield or return. */
export interface ArtifactOutput {
  readonly artifact: string;
  readonly content: ArtifactContent;
}
