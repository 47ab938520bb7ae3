/** Listens on the whole page. @returns what ends it */
export function listening(
  handlers: {
    readonly [K in keyof DocumentEventMap]?: (event: DocumentEventMap[K]) => void;
  },
): () => void {
  const all = Object.entries(handlers) as [string, EventListener][];
  for (const [type, handler] of all) document.addEventListener(type, handler);
  return () => {
    for (const [type, handler] of all) document.removeEventListener(type, handler);
  };
}
