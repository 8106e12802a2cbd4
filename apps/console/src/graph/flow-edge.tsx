import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { memo } from 'react';
import type { EdgeLook } from './edge-look.js';
import { backPath, type EdgePath, sidePath } from './edge-path.js';
import { useFarView } from './far-view.js';

/** Data of an edge on the canvas. */
interface EdgeData extends Record<string, unknown> {
  look: EdgeLook;
  /** Distance in pixels from the direct line, for a further edge between two nodes or around a node. */
  aside: number;
  /** Y coordinate of the horizontal part of a loop's edge; missing for other edges. */
  bottom?: number;
  problems: readonly string[];
  onSelect: (id: string) => void;
}

/** Maximum width of a label in pixels, unless the line of a loop is longer. */
const LABEL_WIDTH = 224;

export type CanvasEdge = Edge<EdgeData, 'flow'>;

/**
 * Shows an edge with its condition; a loop's edge runs below the nodes that it repeats. In a far view an edge is a plain
 * line.
 */
export const FlowEdge = memo((props: EdgeProps<CanvasEdge>) => {
  const { id, data, selected = false, markerEnd } = props;
  const isFar = useFarView();
  if (!data) return null;
  const { look, problems, onSelect } = data;
  const { path, label } = computeEdgePath(props, data);
  const color = selected ? 'ring' : problems.length > 0 ? 'destructive' : look.color;
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        {...(isFar ? { interactionWidth: 0 } : markerEnd !== undefined && { markerEnd })}
        style={{
          ...(color !== 'input' && { stroke: `var(--${color})` }),
          strokeWidth: (look.width ?? 1) + (selected ? 1 : 0),
          ...(look.dash !== undefined && { strokeDasharray: look.dash, strokeLinecap: 'round' }),
        }}
      />
      {!isFar && (look.label !== undefined || problems.length > 0) && (
        <EdgeLabelRenderer>
          {/* The edge itself carries this text and is reachable by keyboard. */}
          <button
            type="button"
            aria-hidden
            tabIndex={-1}
            data-edge-label={id}
            title={[look.title, ...problems].filter((it) => it !== undefined).join('\n')}
            onClick={() => onSelect(id)}
            style={{
              transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)`,
              maxWidth: Math.max(LABEL_WIDTH, data.bottom === undefined ? 0 : Math.abs(props.sourceX - props.targetX)),
            }}
            className={`nodrag nopan pointer-events-auto absolute truncate rounded border bg-card px-1.5 py-px font-mono text-[11px] ${
              problems.length > 0 || look.color === 'destructive'
                ? 'border-destructive/50 text-destructive'
                : 'text-foreground'
            }`}
          >
            {problems.length > 0 && '⚠ '}
            {look.label}
          </button>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

function computeEdgePath(props: EdgeProps<CanvasEdge>, { aside, bottom }: EdgeData): EdgePath {
  const source = { x: props.sourceX, y: props.sourceY };
  const target = { x: props.targetX, y: props.targetY };
  if (bottom !== undefined) return backPath(source, target, bottom);
  if (aside !== 0) return sidePath(source, target, aside);
  const [path, x, y] = getBezierPath(props);
  return { path, label: { x, y } };
}
