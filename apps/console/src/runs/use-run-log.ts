import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { type LogView, RunLog } from './run-log.js';
import type { RunPicture } from './run-picture.js';

/** Follows a run's events while the component is mounted. */
export function useRunLog(runId: string, graph: RunPicture['graph']): LogView {
  const log = useMemo(() => new RunLog(runId, graph), [runId, graph]);
  useEffect(() => log.startReading(), [log]);
  return useSyncExternalStore(log.subscribe, log.getView);
}
