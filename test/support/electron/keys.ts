/** The keys and clicks of `sendInputEvent`, as the app and the page get them. */

export interface KeyInput {
  type: 'keyDown' | 'keyUp' | 'char';
  /** A letter, a digit, or a name such as `Enter`. */
  keyCode: string;
  modifiers?: string[];
}

/** The input of `before-input-event`. */
interface Input {
  type: KeyInput['type'];
  key: string;
  code: string;
  isAutoRepeat: boolean;
  control: boolean;
  alt: boolean;
  shift: boolean;
  meta: boolean;
}

const codeOf = (key: string): string => {
  if (/^[a-z]$/i.test(key)) return `Key${key.toUpperCase()}`;
  return /^\d$/.test(key) ? `Digit${key}` : key;
};

/** @throws Error for an event that is none, as Electron does */
export const keyOf = ({ type, keyCode, modifiers = [] }: KeyInput) => {
  if (!['keyDown', 'keyUp', 'char'].includes(type) || !keyCode) throw new Error('Invalid event object');
  const has = (...names: string[]): boolean => names.some((name) => modifiers.includes(name));
  const [control, alt] = [has('control', 'ctrl'), has('alt')];
  const [shift, meta] = [has('shift'), has('meta', 'command', 'cmd', 'super')];
  const isLetter = keyCode.length === 1;
  const key = isLetter ? (shift ? keyCode.toUpperCase() : keyCode.toLowerCase()) : keyCode;
  const input: Input = { type, key, code: codeOf(keyCode), isAutoRepeat: false, control, alt, shift, meta };
  const text = isLetter && !control && !alt && !meta ? key : keyCode === 'Enter' ? '\r' : undefined;
  return {
    input,
    /** As Chromium's protocol has it. */
    chromium: {
      type: type === 'keyUp' ? 'keyUp' : text === undefined ? 'rawKeyDown' : 'keyDown',
      key,
      code: input.code,
      windowsVirtualKeyCode: isLetter
        ? keyCode.toUpperCase().charCodeAt(0)
        : keyCode === 'Enter'
          ? 13
          : keyCode === 'Escape'
            ? 27
            : 0,
      modifiers: (alt ? 1 : 0) + (control ? 2 : 0) + (meta ? 4 : 0) + (shift ? 8 : 0),
      ...(text !== undefined && { text }),
    },
  };
};

export interface MouseInput {
  type: 'mouseDown' | 'mouseUp' | 'mouseMove';
  /** In pixels of the view. */
  x: number;
  y: number;
  button?: 'left' | 'middle' | 'right';
  clickCount?: number;
}

const mouseTypes = { mouseDown: 'mousePressed', mouseUp: 'mouseReleased', mouseMove: 'mouseMoved' } as const;

export const isMouse = (given: KeyInput | MouseInput): given is MouseInput => given.type in mouseTypes;

/** As Chromium's protocol has it. */
export const mouseOf = ({ type, x, y, button = 'left', clickCount = 1 }: MouseInput) =>
  type === 'mouseMove' ? { type: mouseTypes[type], x, y } : { type: mouseTypes[type], x, y, button, clickCount };
