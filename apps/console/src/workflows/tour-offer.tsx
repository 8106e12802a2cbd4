import { Button } from '../components/button.js';
import { endTour, goToTourStep, useOffersTour } from '../shell/tour-state.js';

/** Offers the tour of the console, until it was begun or declined once in this browser. */
export function TourOffer() {
  if (!useOffersTour()) return null;
  return (
    <p className="flex flex-wrap items-center justify-center gap-2 text-sm">
      New here?
      <Button onClick={() => goToTourStep(0)}>Take the tour</Button>
      <Button kind="quiet" onClick={endTour}>
        No, thanks
      </Button>
    </p>
  );
}
