import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from 'react';

interface SplitPaneProps {
  /** Name of the divider for screen readers. */
  label: string;
  /** Position of the second pane: `side` is to the right of the first, `below` is under it. */
  direction: 'side' | 'below';
  /** Initial size of the second pane in pixels. The browser keeps the chosen size under `name`. */
  initial: number;
  name: string;
  children: readonly [ReactNode, ReactNode];
}

const SMALLEST = 120;
const STEP = 24;

/** Shows two panes with a divider that a pointer or the arrow keys move. */
export function SplitPane({ label, direction, initial, name, children }: SplitPaneProps) {
  const [size, setSize] = useState(() => Number(localStorage.getItem(`parley.pane.${name}`)) || initial);
  const box = useRef<HTMLDivElement>(null);
  const below = direction === 'below';
  const resizePane = (wanted: number): void => {
    const room = (below ? box.current?.clientHeight : box.current?.clientWidth) ?? wanted + SMALLEST;
    const fitting = Math.round(Math.max(SMALLEST, Math.min(wanted, room - SMALLEST)));
    setSize(fitting);
    localStorage.setItem(`parley.pane.${name}`, String(fitting));
  };
  const dragDivider = (event: PointerEvent<HTMLDivElement>): void => {
    const frame = box.current?.getBoundingClientRect();
    if (!frame || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    resizePane(below ? frame.bottom - event.clientY : frame.right - event.clientX);
  };
  const resizeByKey = (event: KeyboardEvent): void => {
    const grows = below ? 'ArrowUp' : 'ArrowLeft';
    const shrinks = below ? 'ArrowDown' : 'ArrowRight';
    if (event.key === grows) resizePane(size + STEP);
    else if (event.key === shrinks) resizePane(size - STEP);
    else return;
    event.preventDefault();
  };
  return (
    <div ref={box} className={`flex h-full min-h-0 min-w-0 ${below ? 'flex-col' : 'flex-row'}`}>
      <div className="relative min-h-0 min-w-0 grow overflow-hidden">{children[0]}</div>
      <div
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation={below ? 'horizontal' : 'vertical'}
        aria-valuenow={size}
        aria-valuemin={SMALLEST}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={dragDivider}
        onKeyDown={resizeByKey}
        className={`shrink-0 touch-none bg-border hover:bg-ring ${below ? 'h-1 cursor-row-resize' : 'w-1 cursor-col-resize'}`}
      />
      <div
        style={below ? { height: size } : { width: size }}
        className={`min-h-0 min-w-0 shrink-0 overflow-hidden ${below ? 'max-h-[75%]' : 'max-w-[75%]'}`}
      >
        {children[1]}
      </div>
    </div>
  );
}
