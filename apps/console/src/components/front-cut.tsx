/** Shows an id in one line; without room its front is cut, since ids that begin with the time differ at their ends. */
export function FrontCut({ text }: { text: string }) {
  return (
    <span title={text} className="block truncate text-left [direction:rtl]">
      <bdi dir="ltr">{text}</bdi>
    </span>
  );
}
