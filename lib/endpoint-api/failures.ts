/** What callers get when SageMaker refuses a request, as Velocity templates of API Gateway. */

/** A failure: the statuses of SageMaker that it stands for, and what becomes of it. */
export interface Failure {
  /** A regular expression over the status. No two match the same. */
  readonly pattern: string;
  /** Status that callers get, if the template sets no other. */
  readonly status: string;
  readonly template: string;
}

/**
 * Reads SageMaker's answer into `$failure`. Because all media types are binary ones, the body arrives in Base64; text is
 * taken too.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
 */
const READ = [
  '#set($text = $input.body)',
  '#if(!$text.startsWith("{"))#set($text = $util.base64Decode($text))#end',
  '#set($failure = $util.parseJson($text))',
].join('\n');

/** An error in the form that the container's own errors have. */
const error = (message: string, code: string) => JSON.stringify({ error: message, code });

/** The container's own status and body; a body that is no JSON becomes the message of an error. */
const FROM_CONTAINER = [
  READ,
  '#set($message = "$!failure.OriginalMessage")',
  '#if($failure.OriginalStatusCode)#set($context.responseOverride.status = $failure.OriginalStatusCode)#end',
  '#if($message.startsWith("{"))',
  '$message',
  '#else',
  // escapeJavaScript also escapes single quotes, which JSON does not allow.
  `{"error":"$util.escapeJavaScript($message).replaceAll("\\\\'","'")","code":"MODEL_ERROR"}`,
  '#end',
].join('\n');

/** SageMaker's own message names the account, so callers get another. */
const REFUSED = [
  READ,
  '#set($message = "$!failure.message$!failure.Message")',
  '#if($message.contains("not found"))',
  '#set($context.responseOverride.status = 503)',
  error('The endpoint is switched off, or not deployed yet. Try again later.', 'ENDPOINT_OFF'),
  '#else',
  error('SageMaker refused the request. Check its size and its headers.', 'REQUEST_REFUSED'),
  '#end',
].join('\n');

const BUSY = error('The endpoint takes no more requests now. Try again later.', 'OVERLOADED');
const FAILED = error('SageMaker could not answer. Try again later.', 'SERVICE_FAILED');

/** @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html (Errors) */
export const FAILURES: readonly Failure[] = [
  { pattern: '424', status: '424', template: FROM_CONTAINER },
  { pattern: '429', status: '429', template: BUSY },
  { pattern: '4(?!24|29)\\d\\d', status: '400', template: REFUSED },
  { pattern: '5\\d\\d', status: '502', template: FAILED },
];
