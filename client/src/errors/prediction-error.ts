/** What a caller catches when a prediction did not come. */

/**
 * Codes of the client's own. Where the container answered, `code` is the container's (`BAD_INPUT`,
 * `MODEL_NOT_READY`, ...), else `HTTP_<status>`; errors of SageMaker's API that are not named here keep
 * SageMaker's name (`ServiceUnavailable`).
 */
export const CLIENT_ERRORS = {
  BAD_OPTION: 'An option, a body or a target cannot be sent.',
  TIMEOUT: 'No answer came within `timeoutSeconds`.',
  CONNECTION_REFUSED: 'Nothing listens at the address.',
  CONNECTION_LOST: 'The connection ended before an answer came.',
  ANSWER_CUT: 'The connection ended within the answer.',
  ANSWER_TOO_LARGE: 'The answer holds more than `maxAnswerBytes`, as it came or decompressed.',
  REDIRECTED: 'The address redirects. Requests are not sent on.',
  HOST_NOT_FOUND: 'The host name is unknown.',
  NETWORK_FAILED: 'The network failed, and the platform does not say how (browsers never do).',
  ENDPOINT_NOT_FOUND: 'There is no such endpoint in the region and account.',
  ASLEEP:
    'An inference component has no copies. The request wakes it; `wakeSeconds` waits for that.',
  ACCESS_DENIED: 'AWS refuses the caller.',
  NO_CREDENTIALS: 'There are no AWS credentials.',
  NO_REGION: 'There is no AWS region.',
  MODEL_ERROR: "The container failed, and its error is not in the form of this project's errors.",
  UNREADABLE_ANSWER: 'The answer cannot be read in the form that you asked for.',
  BAD_IMAGE: 'The image cannot be decoded, or this platform decodes no images.',
} as const;

/** One of the client's own codes. */
export type ClientCode = keyof typeof CLIENT_ERRORS;

/** What an error may tell besides its message. */
export interface PredictionErrorOptions extends ErrorOptions {
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** Why there is no prediction, and what to do. */
export class PredictionError extends Error {
  /** One of {@link CLIENT_ERRORS}, the container's code, or SageMaker's name of the error. */
  readonly code: string;
  /** HTTP status of the container, or of SageMaker if it did not reach one; undefined without an answer. */
  readonly status: number | undefined;
  /** How long the server asks to wait (`Retry-After`), in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ClientCode | (string & {}), message: string, options?: PredictionErrorOptions) {
    super(printable(message), options);
    this.name = 'PredictionError';
    this.code = code;
    this.status = options?.status;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** What moves a terminal's cursor, colors it, turns text around or is not seen; messages repeat what servers say. */
const UNPRINTABLE =
  /(?!\t|\n|\u200c|\u200d|[\u{fe00}-\u{fe0f}])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{fff9}-\u{fffb}]/gu;

/** Line breaks and tabs stay, and what joins letters and pictures; others are written as escapes. */
function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const hex = (character.codePointAt(0) as number).toString(16).padStart(4, '0');
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
  });
}
