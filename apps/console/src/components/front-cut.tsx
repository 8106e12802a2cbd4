/**
 * Shows an id in one line. If the line is too short, the beginning of the id is cut off: ids begin with the time, so
 * only their ends differ clearly.
 */
export function FrontCut({ text }: { text: string }) {
  return (
    <span title={text} className="block truncate text-left [direction:rtl]">
      <bdi dir="ltr">{text}</bdi>
    </span>
  );
}
