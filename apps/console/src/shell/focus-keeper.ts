const MAIN = 'main#view';
/** Headings that receive the focus first. */
const HEADINGS = 'h1, h2, h3';
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex="0"]';

/** Element that had the focus last. */
interface FocusPlace {
  element: HTMLElement;
  /** Elements around it, innermost first. */
  around: readonly Element[];
  /** True if the focus was visible, since the person uses the keyboard. */
  isVisible: boolean;
}

/**
 * Keeps the focus in the page. The browser gives it to the body when the focused element is removed, disabled or
 * hidden, such as by a change of the view, the end of a dialog or the update of a list: the next Tab would then begin
 * at the top of the page. The focus goes to the heading of what took the place of the element, or else to the nearest
 * control. It stays with the body if a person presses beside all controls.
 */
export function keepFocus(): void {
  let place: FocusPlace | undefined;
  /** True while the view has the focus because it has no heading yet. */
  let awaitsHeading = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restoreFocus = (): void => {
    timer = undefined;
    // The focus is not taken from another window or the address bar.
    if (!document.hasFocus()) return;
    const active = document.activeElement;
    const main = document.querySelector<HTMLElement>(MAIN);
    if (awaitsHeading && active === main) awaitsHeading = !focusOn(findIn(main, HEADINGS), { preventScroll: true });
    else if (active === document.body && place) awaitsHeading = moveFocus(place, main) === main;
  };
  const scheduleRestore = (): void => {
    // A dialog returns the focus itself, in a task after its end. Later changes do not extend the delay: a page that
    // changes all the time would never get its focus back.
    timer ??= setTimeout(restoreFocus, 20);
  };
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) place = createPlace(target as HTMLElement);
  });
  document.addEventListener('focusout', scheduleRestore);
  window.addEventListener('focus', scheduleRestore);
  document.addEventListener('pointerdown', () => (place = undefined), { capture: true });
  new MutationObserver(scheduleRestore).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['disabled', 'hidden'],
  });
}

function createPlace(element: HTMLElement): FocusPlace {
  const around: Element[] = [];
  for (let parent = element.parentElement; parent; parent = parent.parentElement) around.push(parent);
  return { element, around, isVisible: element.matches(':focus-visible') };
}

/** Moves the focus to the nearest heading or control, or else to the view. Returns the element with the focus. */
function moveFocus({ element, around, isVisible }: FocusPlace, main: HTMLElement | null): Element | null {
  const options: FocusOptions = { preventScroll: !isVisible };
  const isUsable = element.isConnected && !element.matches(':disabled') && element.checkVisibility();
  const parts = around.filter((part) => part.isConnected && !part.contains(main));
  const nearest = parts.find((part) => findNext(part) !== undefined) ?? main;
  focusOn(isUsable ? element : (findNext(nearest) ?? main ?? undefined), options);
  return document.activeElement;
}

/** Returns the first heading of a part of the page, or else its first control. */
function findNext(part: Element | null): HTMLElement | undefined {
  return findIn(part, HEADINGS) ?? (part?.matches(MAIN) ? undefined : findIn(part, FOCUSABLE));
}

function findIn(part: Element | null, selector: string): HTMLElement | undefined {
  return [...(part?.querySelectorAll<HTMLElement>(selector) ?? [])].find((it) => it.checkVisibility());
}

function focusOn(element: HTMLElement | undefined, options: FocusOptions): boolean {
  if (!element) return false;
  // A heading gets the focus only from here.
  if (!element.hasAttribute('tabindex') && element.matches(HEADINGS)) element.tabIndex = -1;
  element.focus(options);
  return document.activeElement === element;
}
