import { lazy, Suspense } from 'react';
import { Loading } from '../components/loading.js';
import type { CanvasProps } from './canvas.js';

const loadCanvas = () => import('./canvas.js');

const Canvas = lazy(async () => ({ default: (await loadCanvas()).Canvas }));

/** Starts to load the canvas, while the graph that it shows is being loaded. */
export function preloadCanvas(): void {
  // The canvas itself reports a failure when it is shown.
  loadCanvas().catch(() => undefined);
}

/** Shows the canvas. Its code is loaded when the first graph is shown. */
export function LazyCanvas(props: CanvasProps) {
  return (
    <Suspense fallback={<Loading />}>
      <Canvas {...props} />
    </Suspense>
  );
}
