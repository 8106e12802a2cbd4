import { toggleEntry } from './patterns.js';

interface AskFirstProps {
  /** Name of the tool in the config's list `approve`. */
  name: string;
  approve: readonly string[];
  onApprove: (approve: readonly string[]) => void;
}

/** Shows a checkbox: whether a person approves each call of a tool. */
export function AskFirst({ name, approve, onApprove }: AskFirstProps) {
  return (
    <label className="flex shrink-0 items-center gap-1 text-xs">
      <input
        type="checkbox"
        aria-label={`Ask before ${name} is called`}
        checked={approve.includes(name)}
        onChange={({ target }) => onApprove(toggleEntry(approve, name, target.checked))}
      />
      ask first
    </label>
  );
}
