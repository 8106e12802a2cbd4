import { ViewportPortal } from '@xyflow/react';
import type { ReactNode } from 'react';
import type { Graph, Position } from './graph.js';
import { frameOf, type GraphLoop, loopsOf } from './loops.js';

interface LoopFramesProps {
  graph: Graph;
  places: ReadonlyMap<string, Position>;
  /** Returns the content at the head of a loop's frame. */
  headOf?: ((loop: GraphLoop) => ReactNode) | undefined;
}

/** Shows a frame around the nodes of each loop, behind them. */
export function LoopFrames({ graph, places, headOf }: LoopFramesProps) {
  const loops = loopsOf(graph.edges);
  if (loops.length === 0) return null;
  return (
    <ViewportPortal>
      {loops.map((loop) => {
        const box = frameOf(loop, places);
        return (
          box && (
            <div
              key={loop.edge}
              data-loop={`${loop.from}->${loop.to}`}
              style={{ transform: `translate(${box.x}px, ${box.y}px)`, width: box.width, height: box.height }}
              className="absolute -z-10 rounded-xl border-2 border-dashed border-primary/50 bg-primary/5"
            />
          )
        );
      })}
      {loops.map((loop) => {
        const box = frameOf(loop, places);
        return (
          box && (
            <div
              key={loop.edge}
              style={{ transform: `translate(${box.x + 10}px, ${box.y + 6}px)` }}
              className="nodrag nopan pointer-events-auto absolute flex items-center gap-2 text-xs text-foreground"
            >
              {headOf?.(loop) ?? <span className="font-medium text-primary">Loop</span>}
            </div>
          )
        );
      })}
    </ViewportPortal>
  );
}
