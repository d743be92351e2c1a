/** The panel that says which box and which display this is. It has no words, and so no language. */
import { make } from './elements.ts';

export interface DisplayLabel {
  name: string;
  /** Its base URL for other machines; null: they cannot reach it. */
  address: string | null;
  /** Of the display among those of the box. */
  number: number;
}

export const createIdentifyPanel = ({ name, address, number }: DisplayLabel): HTMLElement =>
  make(
    'div',
    'identify',
    make('p', 'identify-number', String(number)),
    make('p', 'identify-name', name),
    make('p', 'identify-address', (address ?? '').replace(/^https?:\/\//, '')),
  );
