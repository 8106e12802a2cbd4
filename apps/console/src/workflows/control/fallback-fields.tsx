import type { GraphNode } from '../../graph/graph.js';
import { JsonField } from '../json-field.js';
import { PromptField } from '../prompt-field.js';
import { type NodeControl, setMembers } from './node-control.js';

interface FallbackFieldsProps extends NodeControl {
  fallback: NonNullable<GraphNode['fallback']>;
}

/** Shows inputs for the fallback, which replaces the result of a failed node: a text, or other Parts as JSON. */
export function FallbackFields({ fallback, ...control }: FallbackFieldsProps) {
  const text = readSingleText(fallback.parts);
  return (
    <div className="border-l-2 pl-3">
      {text === undefined ? (
        <JsonField
          field={{ label: 'Parts', hint: 'A2A Parts, such as [{"text": "…"}] or [{"data": {}}].' }}
          value={fallback.parts}
          onChange={(parts) => setMembers(control, { fallback: { parts: Array.isArray(parts) ? parts : [] } })}
        />
      ) : (
        <PromptField
          field={{ label: 'Fallback', hint: 'References to other nodes are resolved.' }}
          rows={3}
          value={text}
          draft={control.draft}
          path={`${control.path}.fallback.parts[0].text`}
          onChange={(next) => setMembers(control, { fallback: { parts: [{ text: next }] } })}
        />
      )}
      {text !== undefined && (
        <button
          type="button"
          className="text-xs underline"
          onClick={() => setMembers(control, { fallback: { parts: [{ data: {} }] } })}
        >
          Use data instead of a text
        </button>
      )}
    </div>
  );
}

function readSingleText(parts: readonly unknown[]): string | undefined {
  const [only, ...more] = parts as { text?: unknown }[];
  if (more.length > 0 || typeof only?.text !== 'string' || Object.keys(only).length !== 1) return undefined;
  return only.text;
}
