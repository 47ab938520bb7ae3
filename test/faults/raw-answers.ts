/** Answers of HTTP/1.1 as they come from a socket. */

/** One answer that came whole. */
export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** The answers in these bytes, each with a Content-Length; one that is not whole is left out. */
export function readAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) return answers;
    const head = bytes.toString('latin1', at, end);
    const body = end + 4;
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    if (bytes.length < body + length) return answers;
    const status = Number(/^HTTP\/1.1 (\d{3})/.exec(head)?.[1] ?? 0);
    answers.push({ status, text: bytes.toString('utf8', body, body + length) });
    at = body + length;
  }
}
