import { lazy, Suspense } from 'react';
import { Loading } from '../components/loading.js';
import type { CanvasProps } from './canvas.js';

const Canvas = lazy(async () => ({ default: (await import('./canvas.js')).Canvas }));

/** Shows the canvas. Its code is loaded when the first graph is shown. */
export function LazyCanvas(props: CanvasProps) {
  return (
    <Suspense fallback={<Loading />}>
      <Canvas {...props} />
    </Suspense>
  );
}
