/** `screen`: displays that tests connect and remove. */
import { EventEmitter } from 'node:events';
import { app } from './app.ts';
import { createEvent } from './emitter.ts';
import { BaseWindow } from './view.ts';

interface Display {
  id: number;
  label: string;
  bounds: { x: number; y: number; width: number; height: number };
}

const given = JSON.parse(
  process.env['DOUBLE_DISPLAYS'] ?? '[{"id":1,"label":"One","bounds":{"x":0,"y":0,"width":960,"height":540}}]',
) as Display[];

const whole = (display: Display) => ({
  ...display,
  workArea: display.bounds,
  size: { width: display.bounds.width, height: display.bounds.height },
  scaleFactor: 1,
  rotation: 0,
  internal: false,
});

class Screen extends EventEmitter {
  #displays = given;

  getAllDisplays(): Display[] {
    return this.#displays.map(whole);
  }
  /** Without displays one without a size, as Chromium's default display. */
  getPrimaryDisplay(): Display {
    const [first] = this.#displays;
    return whole(first ?? { id: 0, label: '', bounds: { x: 0, y: 0, width: 0, height: 0 } });
  }
  /** Connects, changes and removes displays. The events come later, one for each display. */
  become(displays: Display[]): void {
    const before = this.#displays;
    this.#displays = displays;
    const find = (list: Display[], id: number) => list.find((display) => display.id === id);
    const later = (name: string, ...args: unknown[]) => setImmediate(() => this.emit(name, createEvent(), ...args));
    for (const display of displays) {
      const old = find(before, display.id);
      if (old === undefined) later('display-added', whole(display));
      else if (JSON.stringify(old) !== JSON.stringify(display)) {
        later('display-metrics-changed', whole(display), ['bounds', 'workArea']);
      }
    }
    for (const display of before)
      if (find(displays, display.id) === undefined) later('display-removed', whole(display));
    for (const window of BaseWindow.getAllWindows()) window.settle();
  }
}

const actual = new Screen();

/** Any use before the app is ready throws. */
export const screen = new Proxy(actual, {
  get: (target, name: keyof Screen) => {
    if (!app.isReady()) throw new Error("The 'screen' module can't be used before the app 'ready' event");
    const value = target[name];
    return typeof value === 'function' ? value.bind(target) : value;
  },
});
