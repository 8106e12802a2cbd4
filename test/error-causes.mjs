/** Number of causes that are named, in case they form a circle. */
const MOST_CAUSES = 5;

/**
 * Adds the causes of an error to the head of its stack, which reports of tests show: "fetch failed" alone does not say
 * whether a connection was refused, reset or closed.
 */
export function addCauses(error) {
  if (!(error instanceof Error)) return;
  const causes = causesOf(error).map(({ code, message }) => (code === undefined ? message : `${code}: ${message}`));
  if (causes.length === 0) return;
  const head = `${error.name}: ${error.message}`;
  if (error.stack?.startsWith(head))
    error.stack = `${head} (cause: ${causes.join('; ')})${error.stack.slice(head.length)}`;
}

function causesOf(error) {
  const causes = [];
  for (let { cause } = error; cause instanceof Error && cause !== error; { cause } = cause) {
    if (causes.length === MOST_CAUSES || causes.includes(cause)) break;
    causes.push(cause);
  }
  return causes;
}
