/** The panel that says which box and which display this is. It has no words, and so no language. */

export interface DisplayLabel {
  /** Of the box. */
  name: string;
  /** Its base URL for other machines; null: they cannot reach it. */
  address: string | null;
  /** Of the display among those of the box. */
  number: number;
}

export const createIdentifyPanel = ({ name, address, number }: DisplayLabel): HTMLElement => {
  const panel = document.createElement('div');
  panel.className = 'identify';
  const lines = [
    ['identify-number', String(number)],
    ['identify-name', name],
    ['identify-address', (address ?? '').replace(/^https?:\/\//, '')],
  ] as const;
  for (const [className, text] of lines) {
    const line = document.createElement('p');
    line.className = className;
    line.textContent = text;
    panel.append(line);
  }
  return panel;
};
