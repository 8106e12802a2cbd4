import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { getJson } from '../api/http.js';
import { type PluginType, pluginTypes } from '../nodes/plugin-types.js';

const SCHEMA = '/schemas/workflow.json';

/** Returns the node types that plugins of the service define; none until the schema is loaded. */
export function usePluginTypes(): readonly PluginType[] {
  const { data } = useQuery({ queryKey: [SCHEMA], queryFn: ({ signal }) => getJson<unknown>(SCHEMA, signal) });
  return useMemo(() => pluginTypes(data), [data]);
}
