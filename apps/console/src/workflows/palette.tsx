import { DRAGGED_TYPE } from '../graph/graph.js';
import { NODE_TYPES, nodeLook } from '../nodes/node-looks.js';

/** Every type of node: to be dragged onto the canvas, or added with a click. */
export function Palette({ onAdd }: { onAdd: (type: string) => void }) {
  return (
    <div
      role="group"
      aria-label="Node types"
      className="flex shrink-0 gap-1.5 overflow-x-auto border-b bg-card p-2 md:w-48 md:flex-col md:overflow-y-auto md:border-r md:border-b-0"
    >
      {NODE_TYPES.map((type) => {
        const { label, description, Icon, box, accent } = nodeLook(type);
        return (
          <button
            key={type}
            type="button"
            draggable
            data-palette={type}
            title={description}
            onDragStart={(event) => {
              event.dataTransfer.setData(DRAGGED_TYPE, type);
              event.dataTransfer.effectAllowed = 'copy';
            }}
            onClick={() => onAdd(type)}
            className={`flex shrink-0 cursor-grab items-center gap-2 rounded-md border px-2 py-1.5 text-left text-sm hover:brightness-105 active:cursor-grabbing ${box}`}
          >
            <span className={`flex size-6 shrink-0 items-center justify-center rounded ${accent}`}>
              <Icon className="size-3.5" aria-hidden />
            </span>
            {label}
          </button>
        );
      })}
      <p className="hidden px-1 pt-1 text-xs text-muted-foreground md:block">
        Drag a type onto the canvas, or click it. Draw an edge from the right side of a node to the left side of the
        next.
      </p>
    </div>
  );
}
