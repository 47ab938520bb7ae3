/** Work for one name is done one after another; work for other names does not wait for it. */
export function turnsByName(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<void>>();
  return (name, work) => {
    const result = (last.get(name) ?? Promise.resolve()).then(work);
    const ended: Promise<void> = result.then(
      () => forget(),
      () => forget(),
    );
    const forget = () => {
      if (last.get(name) === ended) last.delete(name);
    };
    last.set(name, ended);
    return result;
  };
}
