/** The views of the onboarding form, one at a time. From a question and from the end, Back returns to the form. */

/** The views from which Back returns to the form. */
const beyond = ['unknown', 'question', 'claim', 'done'] as const;
type Beyond = (typeof beyond)[number];

export type View = 'loading' | 'device' | 'away' | 'empty' | 'form' | Beyond;

const BEYOND = 'beyond';

/** @param onBack called when the user goes back from a view */
export const createViews = (page: Document, onBack: (from: Beyond) => void) => {
  let current: View = 'loading';

  const show = (next: View): void => {
    current = next;
    for (const section of Array.from(page.querySelectorAll<HTMLElement>('[data-view]'))) {
      section.hidden = section.dataset.view !== next;
      if (!section.hidden) section.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    }
    scrollTo(0, 0);
  };

  // After a reload the page starts with its first view.
  history.replaceState(null, '');
  // Forward has no effect.
  addEventListener('popstate', () => {
    const left = beyond.find((view) => view === current);
    if (left !== undefined) onBack(left);
  });

  return {
    get current(): View {
      return current;
    },
    /** Shows a view and focuses its heading, for screen readers. */
    show,
    /** Shows a view from which Back returns to the form. */
    goOn: (view: Beyond): void => {
      if (history.state !== BEYOND) history.pushState(BEYOND, '');
      show(view);
    },
    /** Goes back after {@link goOn}; resolves once that has happened. */
    goBack: (): Promise<void> =>
      new Promise((resolve) => {
        if (history.state !== BEYOND) return resolve();
        addEventListener('popstate', () => resolve(), { once: true });
        history.back();
      }),
  };
};
