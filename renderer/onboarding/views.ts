/** The views of the onboarding form, one at a time. Out of a question, and of its end, Back leads to the form. */

/** Those that Back leads out of. */
type Beyond = 'unknown' | 'rebind' | 'done';

export type View = 'loading' | 'device' | 'away' | 'empty' | 'form' | Beyond;

export interface Views {
  readonly current: View;
  /** Shows a view, and takes whoever hears the page instead of seeing it there. */
  show(view: View): void;
  /** Shows a view that Back leads out of. */
  goOn(view: Beyond): void;
  /** As the browser's Back where {@link goOn} led here; resolves once that has happened. */
  goBack(): Promise<void>;
}

const BEYOND = 'beyond';

/** @param onBack somebody went back out of this view */
export const createViews = (page: Document, onBack: (from: Beyond) => void): Views => {
  let current: View = 'loading';

  const show = (next: View): void => {
    current = next;
    for (const section of Array.from(page.querySelectorAll<HTMLElement>('[data-view]'))) {
      section.hidden = section.dataset.view !== next;
      if (!section.hidden) section.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    }
    scrollTo(0, 0);
  };

  // A page that was loaded anew begins with its first view, wherever it was before.
  history.replaceState(null, '');
  // Forward leads to nothing: what was there is over.
  addEventListener('popstate', () => {
    if (current === 'unknown' || current === 'rebind' || current === 'done') onBack(current);
  });

  return {
    get current() {
      return current;
    },
    show,
    goOn: (view) => {
      if (history.state !== BEYOND) history.pushState(BEYOND, '');
      show(view);
    },
    goBack: () =>
      new Promise((resolve) => {
        if (history.state !== BEYOND) return resolve();
        addEventListener('popstate', () => resolve(), { once: true });
        history.back();
      }),
  };
};
