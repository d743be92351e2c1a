/**
 * Hands events to `handle`, one at a time: events that it causes wait until it is done. Throws
 * the first error, at the end.
 */
export const createDispatch = <Event>(handle: (event: Event) => void): ((event: Event) => void) => {
  const events: Event[] = [];
  return (event) => {
    events.push(event);
    if (events.length > 1) return;
    const errors: unknown[] = [];
    for (; events[0] !== undefined; events.shift()) {
      try {
        handle(events[0]);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  };
};
