import { useQuery } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { type CommandItem, findItems } from './command-items.js';
import { listWorkflows } from './workflow-api.js';

interface CommandPaletteProps {
  open: boolean;
  /** Choices of the palette, in addition to the other workflows. */
  items: readonly CommandItem[];
  /** Name of the edited workflow. */
  name: string;
  onOpen: (name: string) => void;
  onClose: () => void;
}

/** Shows a dialog that finds nodes, node types, actions and other workflows by a part of their name. */
export function CommandPalette({ open, onClose, ...rest }: CommandPaletteProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(is) => !is && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          // The chosen action may have moved the focus.
          onCloseAutoFocus={(event) => document.activeElement !== document.body && event.preventDefault()}
          className="fixed top-[12vh] left-1/2 z-50 flex max-h-[70vh] w-[36rem] max-w-[92vw] -translate-x-1/2 flex-col rounded-lg border bg-card shadow-xl"
        >
          <Dialog.Title className="sr-only">Find nodes and actions</Dialog.Title>
          <Choices {...rest} onClose={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Choices({ items, name, onOpen, onClose }: Omit<CommandPaletteProps, 'open'>) {
  const list = useId();
  const box = useRef<HTMLDivElement>(null);
  const workflows = useWorkflowItems(name, onOpen);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const { found, more } = findItems([...items, ...workflows], typed);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const choose = (item: CommandItem | undefined): void => {
    if (!item) return;
    onClose();
    item.run();
  };
  const handleKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) setActive((active + step + found.length) % found.length);
    else if (event.key === 'Enter') choose(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        role="combobox"
        aria-label="Find nodes and actions"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={found[active] && `${list}-${active}`}
        placeholder="A node, a node type, an action or a workflow"
        autoComplete="off"
        maxLength={200}
        spellCheck={false}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setActive(0);
        }}
        onKeyDown={handleKey}
        className="w-full rounded-t-lg border-b bg-transparent px-4 py-3 text-sm -outline-offset-2 placeholder:text-muted-foreground"
      />
      <div ref={box} id={list} role="listbox" aria-label="Choices" className="min-h-0 overflow-y-auto p-1">
        {found.map((item, index) => (
          <Choice
            key={`${item.group} ${item.label} ${index}`}
            id={`${list}-${index}`}
            item={item}
            isActive={index === active}
            onChoose={() => choose(item)}
          />
        ))}
      </div>
      <p role="status" className="px-4 py-2 text-xs text-muted-foreground">
        {found.length === 0 ? 'Nothing has this name.' : more > 0 ? `${more} more: type more of the name.` : ''}
      </p>
    </>
  );
}

interface ChoiceProps {
  id: string;
  item: CommandItem;
  isActive: boolean;
  onChoose: () => void;
}

function Choice({ id, item: { group, label, detail }, isActive, onChoose }: ChoiceProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      id={id}
      role="option"
      aria-selected={isActive}
      // The text field keeps the focus, and with it the keys.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      className={`flex w-full text-left items-baseline gap-3 rounded px-3 py-1.5 text-sm hover:bg-muted ${isActive ? 'bg-muted' : ''}`}
    >
      <span className="max-w-[60%] shrink-0 truncate font-medium">{label}</span>
      <span className="min-w-0 grow truncate text-xs text-muted-foreground">{detail}</span>
      <span className="shrink-0 text-xs text-muted-foreground">{group}</span>
    </button>
  );
}

/** Returns a choice for each workflow except the edited one. Choosing it opens the workflow's editor. */
function useWorkflowItems(name: string, open: (name: string) => void): CommandItem[] {
  const { data = [] } = useQuery({ queryKey: ['workflow-choices'], queryFn: ({ signal }) => listWorkflows(signal) });
  return data
    .filter((workflow) => workflow.name !== name)
    .map((workflow) => ({
      group: 'Open a workflow',
      label: workflow.name,
      detail: workflow.description ?? '',
      run: () => open(workflow.name),
    }));
}
