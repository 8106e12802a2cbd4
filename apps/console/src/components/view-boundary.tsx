import { Component, type ReactNode } from 'react';
import { ApiProblem } from '../api/problem.js';
import { ErrorState } from './error-state.js';

/**
 * Shows an error in place of a view, or of a part of one, that fails to render. Content comes from untrusted agents, so
 * a view may fail.
 */
export class ViewBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    const { error } = this.state;
    // The browser does not load a failed chunk again without a reload.
    const isUnloaded = error instanceof ApiProblem && error.status === 0;
    return (
      <ErrorState
        error={error}
        onRetry={() => (isUnloaded ? location.reload() : this.setState({ error: undefined }))}
      />
    );
  }
}
