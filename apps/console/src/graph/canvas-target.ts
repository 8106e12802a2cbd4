import { type ReactFlowProps, useReactFlow } from '@xyflow/react';
import { type KeyboardEvent, type MouseEvent, type RefObject, useEffect, useEffectEvent } from 'react';
import { useStableHandler } from '../components/use-stable-handler.js';
import type { CanvasEdge } from './flow-edge.js';
import type { Position } from './graph.js';
import type { CardNode } from './node-card.js';
import { type NoteElement, noteIndex } from './note-elements.js';

/** Part of the canvas that a context menu belongs to. */
export interface CanvasTarget {
  /**
   * Id of the node, if the menu is for a node. At most one of `node`, `edge` and `note` is set; none is set for the
   * canvas itself, and for the box around several selected parts.
   */
  node?: string;
  edge?: string;
  note?: number;
  /** True for the canvas itself. */
  isPane: boolean;
  /** Position in the window, in pixels. */
  screen: Position;
  /** Position of the target on the canvas. */
  place: Position;
  /** Element that gets the focus when the menu closes. */
  element: HTMLElement | undefined;
}

type Handlers = Pick<
  ReactFlowProps<CardNode | NoteElement, CanvasEdge>,
  'onNodeContextMenu' | 'onEdgeContextMenu' | 'onPaneContextMenu' | 'onSelectionContextMenu' | 'onKeyDown'
>;

type Part = Pick<CanvasTarget, 'node' | 'edge' | 'note'>;

/** Pixels from the corner of a focused element to its context menu. */
const INSET = 12;

/** Returns the handlers that open a context menu by the mouse, and by the menu key or Shift+F10. */
export function useCanvasMenu(
  box: RefObject<HTMLDivElement | null>,
  openMenu: ((target: CanvasTarget) => void) | undefined,
): Handlers {
  const flow = useReactFlow();
  const open = (screen: Position, part: Part, isPane: boolean, element: HTMLElement | undefined): void =>
    openMenu?.({ ...part, isPane, screen, place: flow.screenToFlowPosition(screen), element });
  const openWithoutFocus = useEffectEvent((event: globalThis.KeyboardEvent): void => {
    const frame = box.current?.getBoundingClientRect();
    if (!isMenuKey(event) || !isBackground(event.target) || !frame) return;
    event.preventDefault();
    open({ x: frame.left + frame.width / 2, y: frame.top + frame.height / 2 }, {}, true, undefined);
  });
  const isEditable = openMenu !== undefined;
  useEffect(() => {
    if (!isEditable) return undefined;
    const handleKey = (event: globalThis.KeyboardEvent): void => openWithoutFocus(event);
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, [isEditable]);
  const openAtPointer = (event: MouseEvent | globalThis.MouseEvent, part: Part, isPane = false): void => {
    event.preventDefault();
    const element = event.target instanceof Element ? focusableAround(event.target) : undefined;
    open({ x: event.clientX, y: event.clientY }, part, isPane, element);
  };
  // Every node and every edge receives its handler.
  const onNodeContextMenu = useStableHandler((event: MouseEvent, { id }: { id: string }) =>
    openAtPointer(event, partOfNode(id)),
  );
  const onEdgeContextMenu = useStableHandler((event: MouseEvent, { id }: { id: string }) =>
    openAtPointer(event, { edge: id }),
  );
  if (!isEditable) return {};
  return {
    onNodeContextMenu,
    onEdgeContextMenu,
    onPaneContextMenu: (event) => openAtPointer(event, {}, true),
    onSelectionContextMenu: (event) => openAtPointer(event, {}),
    onKeyDown: (event) => {
      if (!isMenuKey(event) || !(event.target instanceof Element)) return;
      event.preventDefault();
      const element = focusableAround(event.target);
      const part = element ? partOf(element) : {};
      const isPane = element === undefined || (part.node ?? part.edge ?? part.note) === undefined;
      const { left, top } = (element ?? event.currentTarget).getBoundingClientRect();
      open({ x: left + INSET, y: top + INSET }, part, isPane, element);
    },
  };
}

function isMenuKey({ key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>): boolean {
  return key === 'ContextMenu' || (key === 'F10' && shiftKey);
}

/** True for the page, the view and headings, which have no menu of their own. */
function isBackground(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('body, main, h1, h2, h3');
}

function focusableAround(target: Element): HTMLElement | undefined {
  return target.closest<HTMLElement>('.react-flow__node, .react-flow__edge') ?? undefined;
}

function partOf(element: HTMLElement): Part {
  const id = element.dataset['id'] ?? '';
  return element.classList.contains('react-flow__edge') ? { edge: id } : partOfNode(id);
}

function partOfNode(id: string): Part {
  const note = noteIndex(id);
  return note === undefined ? { node: id } : { note };
}
