/** In the page in place of p-retry: a person sees each failure and sends again. */
const once = <T>(attempt: () => Promise<T>): Promise<T> => attempt();
export default once;
