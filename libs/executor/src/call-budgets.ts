/** Counts the calls that agents make by themselves, for all that one outermost Task led to. */
export abstract class CallBudgets {
  /**
   * Counts one call.
   * @param root id of the outermost Task that led to the call
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
   */
  abstract spend(root: string): Promise<void>;
}
