/** Returns an object with some of its methods replaced; everything else is the object's own. */
export function withMethods<M extends object, T extends M>(object: T, methods: M): T {
  return new Proxy(object, {
    get(target, name) {
      if (name in methods) return Reflect.get(methods, name);
      const value: unknown = Reflect.get(target, name, target);
      // Private fields are found on the object itself only.
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
