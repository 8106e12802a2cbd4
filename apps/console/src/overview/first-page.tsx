import { useQuery } from '@tanstack/react-query';
import { Redirect } from 'wouter';
import type { Schemas } from '#libs/client';
import { getJson } from '../api/http.js';
import { Loading } from '../components/loading.js';

/** Leads to the overview if the caller has runs, and to the workflows before the first run. */
export function FirstPage() {
  const { data, isError } = useQuery({
    queryKey: ['first-page'],
    queryFn: ({ signal }) => getJson<Schemas['RunPage']>('/api/runs?pageSize=1', signal),
  });
  if (!data && !isError) return <Loading />;
  return <Redirect to={data && data.runs.length > 0 ? '/overview' : '/workflows'} replace />;
}
