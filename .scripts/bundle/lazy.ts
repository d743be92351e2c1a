/** A value that is made when it is first used; the build writes calls of this around the schemas of zod. */
export const lazy = <Value extends object>(make: () => Value): Value => {
  let made: Value | undefined;
  const value = (): Value => (made ??= make());
  return new Proxy({} as Value, {
    get: (_, key) => {
      const found: unknown = Reflect.get(value(), key);
      return typeof found === 'function' ? found.bind(made) : found;
    },
    has: (_, key) => Reflect.has(value(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(value()),
  });
};
