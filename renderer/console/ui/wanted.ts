/** Goes to what the address of a page names. */
import { useEffect, useRef } from 'preact/hooks';

/** Opens what hides a field, and puts the focus on its control. @returns whether it is there */
export const focusOn = (record: string | undefined, field: string | undefined): boolean => {
  const scope =
    record === undefined ? document : document.querySelector<HTMLElement>(`[data-record="${CSS.escape(record)}"]`);
  const found = field === undefined ? null : scope?.querySelector<HTMLElement>(`[data-field~="${CSS.escape(field)}"]`);
  const place = found ?? (scope instanceof HTMLElement ? scope : null);
  if (place === null) return false;
  const inner = found?.querySelector('details');
  if (inner) inner.open = true;
  for (let each: Element | null = place; each !== null; each = each.parentElement) {
    if (each instanceof HTMLDetailsElement) each.open = true;
  }
  const control = place.querySelector<HTMLElement>('input, textarea, select');
  (control ?? place.querySelector<HTMLElement>('button, summary'))?.focus();
  return true;
};

/**
 * Goes there once, and again after an address that names nothing.
 * @param record the value of its `data-record`; undefined: the page has one alone
 * @param field one of the values of its `data-field`
 * @param again what the record appears with
 */
export const useWanted = (record: string | undefined, field: string | undefined, again?: string): void => {
  const reached = useRef('');
  useEffect(() => {
    const wanted = JSON.stringify([record, field, again]);
    const isNamed = record !== undefined || field !== undefined;
    if (!isNamed && again === undefined) reached.current = '';
    else if (isNamed && wanted !== reached.current && focusOn(record, field)) reached.current = wanted;
  }, [record, field, again]);
};
