/** Goes to what the address of a page names. */
import { useEffect } from 'preact/hooks';

/** Opens what hides a field, and puts the focus on its control. */
const focusOn = (record: string | undefined, field: string | undefined): void => {
  const scope =
    record === undefined ? document : document.querySelector<HTMLElement>(`[data-record="${CSS.escape(record)}"]`);
  const found = field === undefined ? null : scope?.querySelector<HTMLElement>(`[data-field~="${CSS.escape(field)}"]`);
  const place = found ?? (scope instanceof HTMLElement ? scope : null);
  if (place === null) return;
  const inner = found?.querySelector('details');
  if (inner) inner.open = true;
  for (let each: Element | null = place; each !== null; each = each.parentElement) {
    if (each instanceof HTMLDetailsElement) each.open = true;
  }
  const control = place.querySelector<HTMLElement>('input, textarea, select');
  (control ?? place.querySelector<HTMLElement>('button, summary'))?.focus();
};

/**
 * @param record the value of its `data-record`; undefined: the page has one alone
 * @param field one of the values of its `data-field`
 * @param again what the record appears with
 */
export const useWanted = (record: string | undefined, field: string | undefined, again?: unknown): void => {
  useEffect(() => {
    if (record !== undefined || field !== undefined) focusOn(record, field);
  }, [record, field, again]);
};
