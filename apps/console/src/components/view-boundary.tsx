import { Component, type ReactNode } from 'react';
import { ErrorState } from './error-state.js';

/** Keeps the shell when a view fails. */
export class ViewBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    return <ErrorState error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
