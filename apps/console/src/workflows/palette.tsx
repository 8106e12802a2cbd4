import { DRAGGED_TYPE } from '../graph/graph.js';
import { FLOW_TYPES, NODE_TYPES, nodeLook } from '../nodes/node-looks.js';
import type { PluginType } from '../nodes/plugin-types.js';

interface PaletteProps {
  plugins: readonly PluginType[];
  onAdd: (type: string) => void;
}

/** Shows every node type, to drag it onto the canvas or add it with a click. */
export function Palette({ plugins, onAdd }: PaletteProps) {
  return (
    <div className="flex shrink-0 gap-1.5 overflow-x-auto border-b bg-card p-2 md:w-48 md:flex-col md:overflow-y-auto md:border-r md:border-b-0">
      <Types label="Node types" types={NODE_TYPES} onAdd={onAdd} />
      <p className="hidden px-1 pt-1.5 text-xs font-medium text-muted-foreground md:block">Flow</p>
      <Types label="Flow" types={FLOW_TYPES} onAdd={onAdd} />
      {plugins.length > 0 && (
        <>
          <p className="hidden px-1 pt-1.5 text-xs font-medium text-muted-foreground md:block">Plugins</p>
          <Types label="Plugins" types={plugins.map(({ type }) => type)} plugins={plugins} onAdd={onAdd} />
        </>
      )}
      <p className="hidden px-1 pt-1 text-xs text-muted-foreground md:block">
        Drag a type onto the canvas, or click it. Draw an edge from the right side of a node to the left side of the
        next; an edge to an earlier node makes a loop.
      </p>
    </div>
  );
}

interface TypesProps {
  label: string;
  types: readonly string[];
  plugins?: readonly PluginType[];
  onAdd: (type: string) => void;
}

function Types({ label: group, types, plugins = [], onAdd }: TypesProps) {
  return (
    <div role="group" aria-label={group} className="flex shrink-0 gap-1.5 md:flex-col">
      {types.map((type) => {
        const { label, description, Icon, box, accent } = nodeLook(type);
        return (
          <button
            key={type}
            type="button"
            draggable
            data-palette={type}
            title={plugins.find((it) => it.type === type)?.description ?? description}
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
    </div>
  );
}
