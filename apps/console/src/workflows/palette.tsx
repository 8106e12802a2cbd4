import { useId, useState } from 'react';
import { Input } from '../components/field.js';
import { DRAGGED_TYPE } from '../graph/graph.js';
import { FLOW_TYPES, NODE_TYPES, nodeLook } from '../nodes/node-looks.js';
import type { PluginType } from '../nodes/plugin-types.js';

interface PaletteProps {
  plugins: readonly PluginType[];
  onAdd: (type: string) => void;
}

/** A node type with the sentence that explains it. */
export interface PaletteType {
  type: string;
  label: string;
  description: string;
}

/** Returns the groups of the palette, each with its node types and the sentences that explain them. */
export function paletteGroups(plugins: readonly PluginType[]): { name: string; types: PaletteType[] }[] {
  const describeType = (type: string): PaletteType => {
    const { label, description } = nodeLook(type);
    return { type, label, description: plugins.find((it) => it.type === type)?.description ?? description };
  };
  return [
    { name: 'Node types', types: NODE_TYPES.map(describeType) },
    { name: 'Flow', types: FLOW_TYPES.map(describeType) },
    { name: 'Plugins', types: plugins.map(({ type }) => describeType(type)) },
  ];
}

/** Shows every node type, to drag it onto the canvas or add it with a click, and a search for types. */
export function Palette({ plugins, onAdd }: PaletteProps) {
  const [typed, setTyped] = useState('');
  const groups = paletteGroups(plugins)
    .map(({ name, types }) => ({ name, types: types.filter((type) => isNamed(type, typed)) }))
    .filter(({ types }) => types.length > 0);
  const first = groups[0]?.types[0];
  return (
    <div className="flex shrink-0 gap-1.5 overflow-x-auto border-b bg-card p-2 md:w-52 md:flex-col md:overflow-y-auto md:border-r md:border-b-0">
      <Input
        type="search"
        aria-label="Search node types"
        placeholder="Search types"
        className="w-40! shrink-0 md:w-full!"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={({ key }) => key === 'Enter' && first && onAdd(first.type)}
      />
      {groups.map(({ name, types }, index) => (
        <Group key={name} name={name} types={types} isNamed={index > 0} onAdd={onAdd} />
      ))}
      {groups.length === 0 && (
        <p role="status" className="px-1 text-sm text-muted-foreground">
          No node type has this name.
        </p>
      )}
      <p className="hidden px-1 pt-1 text-xs text-muted-foreground md:block">
        Drag a type onto the canvas, or click it. Draw an edge from the right side of a node to the left side of the
        next; an edge to an earlier node makes a loop.
      </p>
    </div>
  );
}

interface GroupProps {
  name: string;
  types: readonly PaletteType[];
  isNamed: boolean;
  onAdd: (type: string) => void;
}

function Group({ name, types, isNamed: isHeaded, onAdd }: GroupProps) {
  return (
    <>
      {isHeaded && <p className="hidden px-1 pt-1.5 text-xs font-medium text-muted-foreground md:block">{name}</p>}
      <div role="group" aria-label={name} className="flex shrink-0 gap-1.5 md:flex-col">
        {types.map((type) => (
          <TypeButton key={type.type} type={type} onAdd={onAdd} />
        ))}
      </div>
    </>
  );
}

function TypeButton({ type: { type, label, description }, onAdd }: { type: PaletteType; onAdd: GroupProps['onAdd'] }) {
  const id = useId();
  const { Icon, box, accent } = nodeLook(type);
  return (
    <button
      type="button"
      draggable
      data-palette={type}
      aria-describedby={id}
      title={description}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED_TYPE, type);
        event.dataTransfer.effectAllowed = 'copy';
      }}
      onClick={() => onAdd(type)}
      className={`flex shrink-0 cursor-grab items-center gap-2 rounded-md border bg-clip-padding px-2 py-1.5 text-left text-sm hover:brightness-105 active:cursor-grabbing ${box}`}
    >
      <span className={`flex size-6 shrink-0 items-center justify-center rounded ${accent}`}>
        <Icon className="size-3.5" aria-hidden />
      </span>
      <span className="min-w-0">
        {label}
        <span id={id} aria-hidden className="hidden text-xs leading-snug text-foreground/80 md:block">
          {description}
        </span>
      </span>
    </button>
  );
}

function isNamed({ type, label, description }: PaletteType, typed: string): boolean {
  return `${type} ${label} ${description}`.toLowerCase().includes(typed.trim().toLowerCase());
}
