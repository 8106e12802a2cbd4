import { lazy, Suspense } from 'react';
import { Loading } from '../components/loading.js';
import type { CanvasProps } from './canvas.js';

const Canvas = lazy(async () => ({ default: (await import('./canvas.js')).Canvas }));

/** The canvas, loaded when a graph is drawn for the first time. */
export function LazyCanvas(props: CanvasProps) {
  return (
    <Suspense fallback={<Loading />}>
      <Canvas {...props} />
    </Suspense>
  );
}
