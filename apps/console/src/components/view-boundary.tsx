import { Component, type ReactNode } from 'react';
import { ApiProblem } from '../api/problem.js';
import { ErrorState } from './error-state.js';

/** Keeps what is around it when a view, or a part of one, fails: agents elsewhere say what it shows. */
export class ViewBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    const { error } = this.state;
    // What could not be loaded once is not asked for again by itself.
    const isUnloaded = error instanceof ApiProblem && error.status === 0;
    return (
      <ErrorState
        error={error}
        onRetry={() => (isUnloaded ? location.reload() : this.setState({ error: undefined }))}
      />
    );
  }
}
