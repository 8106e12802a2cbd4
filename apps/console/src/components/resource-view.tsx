import type { ReactNode } from 'react';
import type { Resource } from '../api/use-resource.js';
import { ErrorState } from './error-state.js';
import { Loading } from './loading.js';

interface ResourceViewProps<T> {
  resource: Resource<T>;
  children: (data: T) => ReactNode;
}

/** What a resource holds, or why it holds nothing: on its way, or an error that can be tried again. */
export function ResourceView<T>({ resource, children }: ResourceViewProps<T>) {
  const { data, error, reload } = resource;
  if (data !== undefined) return children(data);
  return error === undefined ? <Loading /> : <ErrorState error={error} onRetry={reload} />;
}
