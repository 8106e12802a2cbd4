import type { ReactNode } from 'react';
import type { Resource } from '../api/use-resource.js';
import { ErrorState } from './error-state.js';
import { Loading } from './loading.js';

interface ResourceViewProps<T> {
  resource: Resource<T>;
  children: (data: T) => ReactNode;
}

/** Shows a resource, or its loading state, or its error with a retry. */
export function ResourceView<T>({ resource, children }: ResourceViewProps<T>) {
  const { data, error, reload } = resource;
  if (data !== undefined) return children(data);
  return error === undefined ? <Loading /> : <ErrorState error={error} onRetry={reload} />;
}
