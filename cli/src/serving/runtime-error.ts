/** What a refusal of the runtime says; the whole body is the message where a container of another make answers. */
export function runtimeError(body: string): { code: string; message: string } {
  try {
    const { error, code } = JSON.parse(body) as { error?: unknown; code?: unknown };
    return {
      code: typeof code === 'string' ? code : '',
      message: typeof error === 'string' ? error : body,
    };
  } catch {
    return { code: '', message: body };
  }
}
