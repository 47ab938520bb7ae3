/** What to do about an error, by its code. The message itself says what was wrong and where. */
import type { ClientCode } from '@sagemaker-tfs/client';
import type { RuntimeErrorCode } from '@sagemaker-tfs/tensors/runtime-errors';
import type { Source } from './source.ts';

type Code = RuntimeErrorCode | ClientCode;

const ADVICE: Readonly<Partial<Record<Code, string>>> = {
  BAD_IMAGE: 'Does it open in a viewer of pictures? The ending of its name does not count.',
  BAD_REQUEST: 'Check that the body is what its media type says.',
  BAD_CUSTOM_ATTRIBUTE: 'Check the options: signature, version, outputs, transport.',
  HANDLER_FAILED: 'The log of serve has the stack of the handler. Mend it: serve loads it again.',
  HOST_REFUSED: 'Open the page by the address that serve prints.',
  MODEL_FAILED: 'TensorFlow refused the tensors. Compare their dtypes, shapes and numbers of rows.',
  MODEL_NOT_READY: 'The model is loading. Try again in a moment.',
  NETWORK_FAILED: 'Is serve still running? Its terminal says so.',
  NOT_ACCEPTABLE: 'Choose another format of the answer in the options.',
  REQUEST_TOO_LARGE: 'A limit that the message names is raised by serve --env NAME=VALUE.',
  PROCESS_GONE: 'The runtime ended or restarts. The terminal of serve says why.',
  UNKNOWN_INPUT: 'Use the names of the signature.',
  UNKNOWN_OUTPUT: 'Choose other outputs in the options.',
  UNKNOWN_SIGNATURE: 'Choose a signature of this version in the options.',
  UNSUPPORTED_MEDIA_TYPE: 'Send tensors instead, or declare preprocess when you package the model.',
};

const COMPARE = 'Compare the names, dtypes and shapes with those of the signature.';

/** Label of the checkbox of a table. */
export const HEADER_LABEL = 'The first line has the names of the inputs';
const UNTICK = `If the first line holds no names, untick '${HEADER_LABEL}'.`;
const TICK = `If the first line holds names, tick '${HEADER_LABEL}'.`;

/** What the advice depends on. */
interface Case {
  readonly code: string;
  readonly message: string;
  /** What was sent. */
  readonly source: Source;
  /** How many inputs the signature has. */
  readonly inputs: number;
}

/** Advice for an error; a general one where the code is not known here, none where the message says it all. */
export function adviceFor({ code, message, source, inputs }: Case): string | undefined {
  const ofHeader = source.tab === 'CSV' ? headerAdvice(code, message, source.header, inputs) : '';
  if (code === 'BAD_INPUT') {
    return ofHeader || (/\b(?:input|dtype|shape)\b/.test(message) ? COMPARE : undefined);
  }
  const advice = ADVICE[code as Code] ?? 'The terminal of serve has the log: press l there.';
  return ofHeader ? `${advice} ${ofHeader}` : advice;
}

/** What the checkbox of a table has to do with the error; empty if it has nothing. The message names the media type. */
function headerAdvice(code: string, message: string, isTicked: boolean, inputs: number): string {
  if (!isTicked) return message.includes('header=present') ? TICK : '';
  // Several inputs need the names.
  const isName = code === 'UNKNOWN_INPUT' && inputs === 1;
  return isName || message.includes('without header=present') ? UNTICK : '';
}
