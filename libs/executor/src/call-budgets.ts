/** Budgets of calls that agents make on their own, one for each outermost Task. */
export abstract class CallBudgets {
  /**
   * Counts one call.
   * @param root id of the outermost Task that led to the call
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
   */
  abstract spendCall(root: string): Promise<void>;
}
