import { lazy, Suspense } from 'react';
import { Loading } from '../components/loading.js';
import type { CanvasProps } from './canvas.js';

const Canvas = lazy(async () => ({ default: (await import('./canvas.js')).Canvas }));

/** Shows the canvas, loaded with the first graph. */
export function LazyCanvas(props: CanvasProps) {
  return (
    <Suspense fallback={<Loading />}>
      <Canvas {...props} />
    </Suspense>
  );
}
