import { joinedParts, partsText } from '../api/parts.js';
import type { A2aArtifact, A2aPart } from '../api/task.js';

/** A file for the person to save. */
export interface FileContent {
  name: string;
  content: Blob;
}

/** Makes the browser save a file. Content from an agent is never opened as a page of this origin. */
export function downloadFile({ name, content }: FileContent): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Decodes a `raw` Part (base64) to a file. */
function decodeFile(name: string, base64: string): FileContent {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return { name, content: new Blob([bytes], { type: 'application/octet-stream' }) };
}

/**
 * Returns Artifacts as a file: a single file or data Part with its own content, texts as Markdown, anything else as
 * JSON.
 */
export function artifactsFile(name: string, artifacts: readonly A2aArtifact[]): FileContent {
  const parts = artifacts.flatMap((artifact) => joinedParts(artifact.parts));
  const [first] = parts;
  if (parts.length === 1 && first?.raw !== undefined) return decodeFile(first.filename ?? name, first.raw);
  if (parts.length === 1 && first?.data !== undefined) return buildJsonFile(name, first.data);
  if (parts.length > 0 && parts.every(isText)) {
    const text = artifacts.map((artifact) => partsText(artifact.parts)).join('\n\n');
    return { name: `${name}.md`, content: new Blob([text], { type: 'text/plain;charset=utf-8' }) };
  }
  return buildJsonFile(name, artifacts);
}

function buildJsonFile(name: string, value: unknown): FileContent {
  const text = JSON.stringify(value, undefined, 2);
  return { name: `${name}.json`, content: new Blob([text], { type: 'application/json' }) };
}

function isText({ text }: A2aPart): boolean {
  return text !== undefined;
}
