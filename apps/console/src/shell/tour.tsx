import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../components/button.js';
import { endTour, goToTourStep, TOUR, useTourStep } from './tour-state.js';

/** Shows the step of the tour that is under way, above the view that it explains. */
export function Tour() {
  const step = useTourStep();
  const [, navigate] = useLocation();
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = step === undefined ? undefined : TOUR[step];
  useEffect(() => {
    heading.current?.focus();
    if (!shown) return;
    const endByEscape = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') endTour();
    };
    document.addEventListener('keydown', endByEscape);
    return () => document.removeEventListener('keydown', endByEscape);
  }, [shown]);
  if (step === undefined || !shown) return null;
  const showStep = (next: number): void => {
    goToTourStep(next);
    const { path } = TOUR[next] ?? shown;
    navigate(path);
  };
  const isLast = step === TOUR.length - 1;
  return (
    <section
      aria-label="Tour"
      className="fixed right-4 bottom-20 z-40 w-80 max-w-[calc(100vw-2rem)] space-y-3 rounded-lg border-2 border-primary bg-card p-4 shadow-xl md:bottom-4"
    >
      <h2 ref={heading} tabIndex={-1} className="font-semibold outline-none">
        {shown.title}{' '}
        <span className="text-xs font-normal text-muted-foreground">
          {step + 1} of {TOUR.length}
        </span>
      </h2>
      <p className="text-sm">{shown.text}</p>
      <div className="flex flex-wrap items-center gap-2">
        {!isLast && (
          <Button kind="quiet" className="mr-auto" onClick={endTour}>
            Skip the tour
          </Button>
        )}
        {step > 0 && <Button onClick={() => showStep(step - 1)}>Back</Button>}
        <Button kind="primary" onClick={() => (isLast ? endTour() : showStep(step + 1))}>
          {isLast ? 'Done' : 'Next'}
        </Button>
      </div>
    </section>
  );
}
